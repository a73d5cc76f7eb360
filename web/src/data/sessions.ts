/** Chats, as several pages read them. */
import { useQuery } from "@tanstack/react-query";
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

export function useTurns(session: string) {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["sessions", session, "turns"],
    queryFn: ({ signal }) => quipu.sessions.turns(session, { limit: 200 }, { signal }).all(),
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
