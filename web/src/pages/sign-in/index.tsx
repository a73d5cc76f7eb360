/** Signing in, with a key or with the one-time link that the server printed. */
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ProblemCard } from "../../app/problems.tsx";
import { type Opening, useSessionActions } from "../../app/session.tsx";
import { Brand } from "../../app/shell.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Spinner } from "../../ui/spinner.tsx";

const route = getRouteApi("/sign-in");

export default function SignInPage() {
  const { to } = route.useSearch();
  const router = useRouter();
  const { open } = useSessionActions();
  const [key, setKey] = useState("");
  const [user, setUser] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const link = useLinkOnce();

  const submit = async (opening: Opening) => {
    setBusy(true);
    setError(undefined);
    try {
      await open(opening);
      router.history.replace(to ?? "/memory");
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const sent = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link works once, so it is sent once
  useEffect(() => {
    document.title = `${t("shell.page.signIn")} · Quipu`;
    if (!link || sent.current) return;
    sent.current = true;
    void submit({ link });
  }, [link]);

  const send = (event: FormEvent) => {
    event.preventDefault();
    void submit({ key: key.trim(), user: user.trim() || undefined });
  };
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-6">
        <Brand />
        {link && busy ? (
          <>
            <h1 className="text-lg font-semibold">{t("shell.signIn.opening")}</h1>
            <Spinner page />
          </>
        ) : (
          <>
            <div className="flex flex-col gap-1">
              <h1 className="text-lg font-semibold">{t("shell.signIn.title")}</h1>
              <p className="text-muted">{t("shell.signIn.text")}</p>
            </div>
            {error !== undefined && <ProblemCard error={error} />}
            <form onSubmit={send} className="flex flex-col gap-4">
              <Field label={t("shell.signIn.key")}>
                <Input
                  type="password"
                  autoComplete="current-password"
                  placeholder="qp_live_…"
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
                />
              </Field>
              <Button look="primary" type="submit" busy={busy} disabled={!key.trim()}>
                {t("shell.signIn.submit")}
              </Button>
            </form>
            <div className="flex flex-col gap-2 border-t pt-5">
              <p className="text-muted">{t("shell.signIn.link")}</p>
            </div>
          </>
        )}
      </div>
    </main>
  );
}

/** The link's secret from behind the `#`, which is then taken out of the address and the history. */
function useLinkOnce(): string | undefined {
  const [link] = useState(() => {
    const found = /^#(qp_link_[\w-]+)$/.exec(location.hash)?.[1];
    if (found) history.replaceState(history.state, "", location.pathname + location.search);
    return found;
  });
  return link;
}
