/** Queries for chats, shared by several pages. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";

/** The chats, newest first. */
export function useSessions() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions"],
    queryFn: async ({ signal }) =>
      (await lukasa.sessions.list({ limit: 200 }, { signal }).page()).data,
  });
}

/** The turns of a chat. Turns about a domain that is off have no text, unless `show_hidden` is set. */
export function useTurns(session: string, show_hidden = false) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", session, "turns", show_hidden],
    queryFn: ({ signal }) =>
      lukasa.sessions.turns(session, { limit: 200, show_hidden }, { signal }).all(),
    placeholderData: keepPreviousData,
  });
}

/** The context and the used memories of a turn. */
export function useWhy(session: string, number: number) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", session, "why", number],
    queryFn: ({ signal }) => lukasa.sessions.why(session, number, { signal }),
  });
}
