/** Queries for chats, shared by several pages. */
import {
  type InfiniteData,
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useQuery,
} from "@tanstack/react-query";
import type { SessionView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { type ChatPage, chatsOf, withChats } from "./chat-pages.ts";

const LIST = ["sessions"];
const PAGE_SIZE = 200;

/** The chats, newest first, or those in the trash: one page, and one more after each `fetchNextPage`. */
export function useSessions({ trashed = false } = {}) {
  const lukasa = useLukasa();
  return useInfiniteQuery({
    queryKey: trashed ? [...LIST, "trashed"] : LIST,
    queryFn: ({ pageParam, signal }): Promise<ChatPage> =>
      lukasa.sessions
        .list({ limit: PAGE_SIZE, trashed: trashed || undefined }, { signal })
        .page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: chatsOf,
  });
}

/** Shows a change of the listed chats before the server has made it; the result takes it back. */
export function showChats(
  queries: QueryClient,
  change: (chats: SessionView[]) => SessionView[],
): () => void {
  const before = queries.getQueryData<InfiniteData<ChatPage>>(LIST);
  if (before) queries.setQueryData(LIST, withChats(before, change));
  return () => queries.setQueryData(LIST, before);
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
