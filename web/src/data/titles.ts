/**
 * What a chat is called: its title, or the words it began with. Those are asked for and not written into
 * the title, because a title would outlive the words it was taken from.
 */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { SessionView, TurnView } from "lukasa-client";
import { useLiveEvent } from "../app/live.tsx";
import { usePreferences } from "../app/preferences.ts";
import { useLukasa } from "../app/sign-in.tsx";
import { t } from "../i18n/index.ts";
import { day } from "../ui/time.tsx";

const LONGEST = 80;

/** What a chat that has no title is called: the words it began with. */
export function firstWords(said: string | undefined): string | undefined {
  const words = said?.trim().split("\n")[0];
  return words && words.length > LONGEST ? `${words.slice(0, LONGEST).trimEnd()}…` : words;
}

export function useTitle(session: SessionView | null | undefined, asked = true): string {
  const lukasa = useLukasa();
  const { timeZone } = usePreferences();
  const id = session?.id ?? "";
  const wanted = Boolean(session && !session.title && session.turns);
  const first = useQuery({
    queryKey: ["first words", id],
    enabled: asked && wanted,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      shown((await lukasa.sessions.turns(id, { limit: 1 }, { signal }).page()).data[0]),
  });
  if (!session) return t("chat.new");
  const words = session.title || firstWords(first.data);
  if (words) return words;
  // Not yet known, and nothing that would be taken back in a moment.
  if (wanted && first.isPending) return "…";
  if (session.turns === 0) return t("chat.new");
  return t("chat.untitled", { day: day(session.opened_at, timeZone) });
}

/** Words that were taken away are no title any more. Once, for the whole page. */
export function useTitlesKeptTrue(): void {
  const queries = useQueryClient();
  useLiveEvent(({ verb }) => {
    if (["delete", "erase", "purge", "undo"].includes(verb)) {
      void queries.invalidateQueries({ queryKey: ["first words"] });
    }
  });
}

/** The words of a turn, unless it is about a domain that is not open. */
export function shown(turn: TurnView | undefined): string {
  return turn && !turn.hidden_domain ? turn.content : "";
}
