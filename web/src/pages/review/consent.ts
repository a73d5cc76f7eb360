/** Sensitive domains that are off until the user turns them on, and when to ask about them. */

import { useQueryClient } from "@tanstack/react-query";
import type { DomainView } from "lukasa-client";
import { useMemo, useState } from "react";
import { sentenceOf } from "../../base/problems.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { useDomains } from "../../data/domains.ts";
import { usePasses } from "../../data/sources.ts";
import { describeDomain } from "../../features/domains/labels.ts";
import { neverAsk, setNeverAsk } from "../../features/domains/never-ask.ts";
import { t } from "../../i18n/index.ts";

export interface Consent {
  domains: readonly DomainView[];
  open: (name: string, open: boolean) => Promise<void>;
  never: () => void;
  ask: () => void;
}

/**
 * Asks when something was not saved because its domain is off, unless the user chose never to be asked; always
 * if the page was opened for it.
 */
export function useConsent(wanted: boolean): Consent {
  const lukasa = useLukasa();
  const { user } = useSignIn();
  const queries = useQueryClient();
  const domains = useDomains();
  const passes = usePasses();
  const [never, setNever] = useState(() => neverAsk(user));
  const [touched, setTouched] = useState<readonly string[]>([]);
  const hasLeftOut = (passes.data ?? []).some((pass) => {
    const left = pass.outcome.left as Record<string, number> | undefined;
    return (left?.closed_domain ?? 0) > 0;
  });
  const shown = useMemo(() => {
    const all = (domains.data ?? []).filter((domain) => domain.requires_opt_in);
    const shut = all.filter((domain) => !domain.opted_in_at);
    if (wanted) return all;
    // Domains turned on with this card stay on it, so that they can be turned off again.
    if (never || !hasLeftOut || (shut.length === 0 && touched.length === 0)) return [];
    return all.filter((domain) => !domain.opted_in_at || touched.includes(domain.name));
  }, [domains.data, wanted, never, hasLeftOut, touched]);

  const show = (changed: DomainView) =>
    queries.setQueryData<DomainView[]>(["domains"], (all = []) =>
      all.map((one) => (one.name === changed.name ? changed : one)),
    );
  const open = async (name: string, wish: boolean): Promise<void> => {
    const before = domains.data?.find((one) => one.name === name);
    if (!before) return;
    setTouched((all) => [...new Set([...all, name])]);
    show({ ...before, opted_in_at: wish ? new Date().toISOString() : null });
    try {
      show(await (wish ? lukasa.domains.open(name) : lukasa.domains.shut(name)));
      showToast({
        text: t(wish ? "review.consent.opened" : "review.consent.shut"),
        about: describeDomain(before).name,
        action: { label: t("shell.undo.undo"), run: () => void open(name, !wish) },
      });
    } catch (error) {
      show(before);
      showToast({ text: sentenceOf(error), tone: "bad" });
    }
  };
  const answer = (no: boolean) => {
    setNeverAsk(user, no);
    setNever(no);
  };
  return { domains: shown, open, never: () => answer(true), ask: () => answer(false) };
}
