/** Sensitive domains that are off until the user turns them on, and when to ask about them. */

import { useQueryClient } from "@tanstack/react-query";
import type { DomainView } from "lukasa-client";
import { useMemo, useState } from "react";
import { showFailure } from "../../base/failures.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { useDomains } from "../../data/domains.ts";
import { REVIEW, useMentionedDomains } from "../../data/review.ts";
import { type OwnUndo, sendWithUndo } from "../../data/writes.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";

export interface Consent {
  domains: readonly DomainView[];
  /** Those of them that the user mentioned, and is asked about. */
  mentioned: readonly DomainView[];
  open: (name: string, open: boolean) => Promise<void>;
  /** Keeps the mentioned domains off. They are not asked about again. */
  decline: () => Promise<void>;
}

/** Asks about the domains that the user mentioned while they were off; about all if the page was opened for it. */
export function useConsent(wanted: boolean): Consent {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const domains = useDomains();
  const asked = useMentionedDomains();
  // Domains decided with this card stay on it, so that the decision can be changed.
  const [touched, setTouched] = useState<readonly string[]>([]);
  const all = useMemo(
    () => (domains.data ?? []).filter((domain) => domain.requires_opt_in),
    [domains.data],
  );
  const mentioned = useMemo(() => {
    const names = new Set([...(asked.data ?? []).map((one) => one.domain), ...touched]);
    return all.filter((domain) => names.has(domain.name));
  }, [all, asked.data, touched]);

  const touch = (names: readonly string[]) =>
    setTouched((before) => [...new Set([...before, ...names])]);
  const show = (changed: DomainView) =>
    queries.setQueryData<DomainView[]>(["domains"], (before = []) =>
      before.map((one) => (one.name === changed.name ? changed : one)),
    );
  /** Whether the card is the consent that the preset asks for. */
  const agrees = (name: string) =>
    asked.data?.some((one) => one.domain === name && one.consent) ?? false;
  const readDomains = () => {
    for (const key of ["policy", "domains"]) void queries.invalidateQueries({ queryKey: [key] });
  };
  /** Undoes a consent, which is an operation. */
  const takeBack = async (operation: string, about: string): Promise<void> => {
    try {
      await lukasa.operations.undo(operation);
      showToast({ text: t("review.consent.shut"), about });
    } catch (error) {
      showFailure(error, { about, retry: () => takeBack(operation, about) });
    }
    readDomains();
    void queries.invalidateQueries({ queryKey: REVIEW });
  };
  const open = async (name: string, wish: boolean, isUndo = false): Promise<void> => {
    // An undo comes later than the render that it was made in.
    const known = queries.getQueryData<DomainView[]>(["domains"]) ?? domains.data;
    const before = known?.find((one) => one.name === name);
    if (!before) return;
    touch([name]);
    const text = t(wish ? "review.consent.opened" : "review.consent.shut");
    const about = domainName(before);
    const send = async (): Promise<OwnUndo | undefined> => {
      show({ ...before, opted_in_at: wish ? new Date().toISOString() : null });
      let undo = () => open(name, !wish, true);
      try {
        if (wish && agrees(name)) {
          const { event } = await lukasa.domains.consent(name);
          const operation = event.operation_id;
          if (operation) undo = () => takeBack(operation, about);
          readDomains();
        } else {
          show(await (wish ? lukasa.domains.open(name) : lukasa.domains.close(name)));
        }
      } catch (error) {
        show(before);
        showFailure(error, { about, retry: () => open(name, wish, isUndo) });
        return undefined;
      }
      void queries.invalidateQueries({ queryKey: REVIEW });
      return { text, about, undo };
    };
    if (!isUndo) await sendWithUndo(send);
    else if (await send()) showToast({ text, about });
  };
  const decline = async (): Promise<void> => {
    const names = mentioned.filter((one) => !one.opted_in_at).map((one) => one.name);
    touch(names);
    try {
      for (const name of names) show(await lukasa.domains.close(name));
      void queries.invalidateQueries({ queryKey: REVIEW });
    } catch (error) {
      showFailure(error, {
        about: names.map((name) => domainName(name)).join(", "),
        retry: decline,
      });
    }
  };
  return { domains: wanted ? all : mentioned, mentioned: wanted ? [] : mentioned, open, decline };
}
