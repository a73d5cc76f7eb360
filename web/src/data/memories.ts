/** Queries for memories: all of them from the store, or one with all its fields. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLive } from "../base/live.ts";
import { useLukasa } from "../base/sign-in.ts";
import { MEMORIES, type Memories, readMemories } from "./store.ts";

const NONE: Memories = { byId: new Map(), complete: false };

/** All memories of every status; filter them with `select` of `data/select.ts`. */
export function useMemories() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const live = useLive();
  const query = useQuery({
    queryKey: MEMORIES,
    queryFn: ({ signal }) => readMemories(queries, lukasa, signal),
    // Only once the event stream is connected, or changes in between would be missed.
    enabled: live !== "connecting",
    staleTime: Number.POSITIVE_INFINITY,
  });
  const memories = query.data ?? NONE;
  const all = useMemo(() => [...memories.byId.values()], [memories]);
  return {
    all,
    byId: memories.byId,
    complete: memories.complete,
    error: query.error,
    refetch: query.refetch,
  };
}

/** One memory with the fields that a list leaves out; optionally at another time. */
export function useMemory(id: string, at: { as_of?: string; known_at?: string } = {}) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useQuery({
    queryKey: ["memory", id, at],
    queryFn: ({ signal }) => lukasa.memories.get(id, { ...at, signal }),
    placeholderData: () =>
      at.as_of || at.known_at ? undefined : queries.getQueryData<Memories>(MEMORIES)?.byId.get(id),
  });
}

/** Every version a memory ever had. */
export function useHistory(id: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", id, "history"],
    queryFn: ({ signal }) => lukasa.memories.history(id, { limit: 200 }, { signal }).all(),
  });
}

export function useLinks(id: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", id, "links"],
    queryFn: ({ signal }) => lukasa.memories.links(id, { limit: 200 }, { signal }).all(),
  });
}
