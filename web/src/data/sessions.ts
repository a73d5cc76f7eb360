/** Chats, as several pages read them. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQuipu } from "../app/sign-in.tsx";

/** The chats, newest first. */
export function useSessions() {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["sessions"],
    queryFn: async ({ signal }) =>
      (await quipu.sessions.list({ limit: 200 }, { signal }).page()).data,
  });
}

/** The turns of a chat; those about a domain that is not open without their words, unless asked for. */
export function useTurns(session: string, show_hidden = false) {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["sessions", session, "turns", show_hidden],
    queryFn: ({ signal }) =>
      quipu.sessions.turns(session, { limit: 200, show_hidden }, { signal }).all(),
    placeholderData: keepPreviousData,
  });
}

/** Why a turn says what it says. */
export function useWhy(session: string, number: number) {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["sessions", session, "why", number],
    queryFn: ({ signal }) => quipu.sessions.why(session, number, { signal }),
  });
}
