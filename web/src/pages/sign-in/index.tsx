/** Sign-in page: with an identity provider, with a key, or with a one-time link. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate, useRouter } from "@tanstack/react-router";
import { LukasaError, type SignIn } from "lukasa-client";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { hasSignedOut, signedIn, signInMethods, useSignInActions } from "../../base/sign-in.ts";
import { t } from "../../i18n/index.ts";
import { Brand } from "../../ui/brand.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { isServerPage } from "./params.ts";

const route = getRouteApi("/sign-in");

export default function SignInPage() {
  const { to } = route.useSearch();
  const router = useRouter();
  const { enter } = useSignInActions();
  const [key, setKey] = useState("");
  const [user, setUser] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const link = useLinkOnce();
  // Local mode needs no sign-in: redirect.
  const known = useQuery({
    queryKey: ["sign-in"],
    queryFn: signedIn,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: !link,
  });

  const methods = useQuery({
    queryKey: ["sign-in-methods"],
    queryFn: signInMethods,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: !link,
  });
  const providers = methods.data?.providers ?? [];
  const submit = async (how: SignIn) => {
    setBusy(true);
    setError(undefined);
    try {
      await enter(how);
      if (to && isServerPage(to)) location.replace(to);
      else router.history.replace(to ?? "/memory");
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const sent = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link works once, so it is sent once
  useEffect(() => {
    document.title = `${t("shell.page.signIn")} · Lukasa`;
    if (!link || sent.current) return;
    sent.current = true;
    void submit({ link });
  }, [link]);

  const send = (event: FormEvent) => {
    event.preventDefault();
    void submit({ key: key.trim(), user: user.trim() });
  };
  if (known.data?.local) return <Navigate to={to ?? "/memory"} replace />;
  const byKey = (
    <>
      <form onSubmit={send} className="flex flex-col gap-4">
        <Field label={t("shell.signIn.key")}>
          <Input
            type="password"
            autoComplete="current-password"
            placeholder="lk_live_…"
            value={key}
            onChange={(event) => setKey(event.target.value)}
            required
          />
        </Field>
        <Field label={t("shell.signIn.user")} help={t("shell.signIn.userHelp")}>
          <Input
            autoComplete="username"
            value={user}
            onChange={(event) => setUser(event.target.value)}
            required
          />
        </Field>
        <Button
          look={providers.length > 0 ? "plain" : "primary"}
          type="submit"
          busy={busy}
          disabled={!key.trim() || !user.trim()}
        >
          {t("shell.signIn.submit")}
        </Button>
      </form>
      <div className="flex flex-col gap-2 border-t pt-5">
        <p className="text-muted">{t("shell.signIn.link")}</p>
        <Snippet code="lukasa sign-in --tenant acme --user alice" />
      </div>
    </>
  );
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-6">
        <Brand />
        {link && busy ? (
          <>
            <h1 className="text-title">{t("shell.signIn.opening")}</h1>
            <Spinner page />
          </>
        ) : !isSecureContext ? (
          <NotEncrypted />
        ) : (
          <>
            <div className="flex flex-col gap-1">
              <h1 className="text-title">{t("shell.signIn.title")}</h1>
              <p className="text-muted">{t("shell.signIn.text")}</p>
            </div>
            {error !== undefined && (
              <SignInError error={error} byLink={link !== undefined && !key} />
            )}
            {methods.error && (
              <ProblemCard error={methods.error} retry={() => void methods.refetch()} />
            )}
            {providers.map(({ name, href }, at) => (
              // The server renders that page, so the browser has to load it.
              <a
                key={href}
                href={`${href}?to=${encodeURIComponent(to ?? "/memory")}`}
                className={buttonClasses(at === 0 ? "primary" : "plain")}
              >
                {t("shell.signIn.provider", { name })}
              </a>
            ))}
            {providers[0] && hasSignedOut() && (
              <a href="/oidc/sign-out" className={buttonClasses("plain")}>
                {t("shell.signIn.endSession", { name: providers[0].name })}
              </a>
            )}
            {link ? (
              // Of those who follow a link, only operators have a key.
              <Disclosure label={t("shell.signIn.operator")}>{byKey}</Disclosure>
            ) : (
              byKey
            )}
          </>
        )}
      </div>
    </main>
  );
}

/** Over plain HTTP, except on this machine, a browser drops the cookie: a key would be exposed, and a link spent. */
function NotEncrypted() {
  const { host, pathname, search, hash } = location;
  return (
    <div role="alert" className="flex flex-col items-start gap-3">
      <h1 className="text-title">{t("shell.signIn.insecure")}</h1>
      <p className="text-muted">{t("shell.signIn.insecureText")}</p>
      <a href={`https://${host}${pathname}${search}${hash}`} className={buttonClasses("primary")}>
        {t("shell.signIn.secure")}
      </a>
    </div>
  );
}

/** The error of a failed sign-in. The server gives the same error for a key and a link; the page knows which. */
function SignInError({ error, byLink }: { error: unknown; byLink: boolean }) {
  if (!(error instanceof LukasaError) || error.status !== 401) return <ProblemCard error={error} />;
  return (
    <div role="alert" className="flex flex-col gap-1 rounded-card border bg-warn-soft p-4">
      <p className="font-medium">{t(byLink ? "shell.signIn.spent" : "shell.signIn.unknown")}</p>
      <p className="text-muted">
        {t(byLink ? "shell.signIn.spentText" : "shell.signIn.unknownText")}
      </p>
    </div>
  );
}

/** The link's secret from the URL fragment, which is then removed from the address and the history. */
function useLinkOnce(): string | undefined {
  const [link] = useState(() => {
    // It is not sent over plain HTTP, and stays in the address for the encrypted page.
    if (!isSecureContext) return undefined;
    const found = /^#(lk_link_[\w-]+)$/.exec(location.hash)?.[1];
    if (found) history.replaceState(history.state, "", location.pathname + location.search);
    return found;
  });
  return link;
}
