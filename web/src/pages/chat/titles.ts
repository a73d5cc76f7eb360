/**
 * What a chat is called: its title, or the words it began with. Those are asked for and not written into
 * the title, because a title would outlive the words it was taken from.
 */
import type { SessionView } from "@quipu/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLiveEvent } from "../../app/live.tsx";
import { usePreferences } from "../../app/preferences.ts";
import { useQuipu } from "../../app/session.tsx";
import { t } from "../../i18n/index.ts";
import { day } from "../../ui/time.tsx";

const LONGEST = 80;

export function useTitle(session: SessionView | undefined, asked = true): string {
  const quipu = useQuipu();
  const { timeZone } = usePreferences();
  const id = session?.id ?? "";
  const first = useQuery({
    queryKey: ["first words", id],
    enabled: asked && session !== undefined && !session.title && session.turns > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      (await quipu.sessions.turns(id, { limit: 1 }, { signal }).page()).data[0]?.content ?? "",
  });
  if (!session) return t("chat.new");
  const words = session.title || first.data?.trim().split("\n")[0];
  if (words) return words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
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
