/** The memories of a person, as pages read them: all of them from the store, or one with all it has. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLive } from "../app/live.tsx";
import { useLukasa } from "../app/sign-in.tsx";
import { MEMORIES, type Memories, readMemories } from "./store.ts";

const NONE: Memories = { byId: new Map(), complete: false };

/** Everything there is, whatever its status: choose with `select` of `data/select.ts`. */
export function useMemories() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const live = useLive();
  const query = useQuery({
    queryKey: MEMORIES,
    queryFn: ({ signal }) => readMemories(queries, lukasa, signal),
    // Not before events are listened to, or what happens in between would be missed.
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

/** One memory as it stands, with all that a list leaves out; at another time if asked. */
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
    queryFn: ({ signal }) => lukasa.memories.history(id, { signal }),
  });
}

export function useLinks(id: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", id, "links"],
    queryFn: ({ signal }) => lukasa.memories.links(id, { signal }),
  });
}
