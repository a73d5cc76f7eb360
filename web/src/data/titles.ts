/**
 * Titles of chats: the stored title, or the first words of the chat. The first words are read each time and
 * not stored as the title, because a title would outlive the turn it was taken from.
 */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { SessionView } from "lukasa-client";
import { day } from "../base/dates.ts";
import { useLiveEvent } from "../base/live.ts";
import { usePreferences } from "../base/preferences.ts";
import { useLukasa } from "../base/sign-in.ts";
import { t } from "../i18n/index.ts";
import { shownTitle, visibleText } from "./hidden.ts";

const MAX_TITLE_LENGTH = 80;

/** The title of an untitled chat: the first line of its first turn, shortened. */
export function firstWords(content: string | undefined): string | undefined {
  const words = content?.trim().split("\n")[0];
  return words && words.length > MAX_TITLE_LENGTH
    ? `${words.slice(0, MAX_TITLE_LENGTH).trimEnd()}…`
    : words;
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
      visibleText((await lukasa.sessions.turns(id, { limit: 1 }, { signal }).page()).data[0]),
  });
  if (!session) return t("chat.new");
  const words = shownTitle(session) || firstWords(first.data);
  if (words) return words;
  // Still loading: show no title that would change in a moment.
  if (wanted && first.isPending) return "…";
  if (session.turns === 0) return t("chat.new");
  return t("chat.untitled", { day: day(session.opened_at, timeZone) });
}

/** Refetches titles after operations that may have removed their text. Used once per page. */
export function useRefreshTitles(): void {
  const queries = useQueryClient();
  useLiveEvent(({ verb }) => {
    if (["delete", "erase", "purge", "undo"].includes(verb)) {
      void queries.invalidateQueries({ queryKey: ["first words"] });
    }
  });
}
