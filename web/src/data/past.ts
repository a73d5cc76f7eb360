/** Memories at another point in time: as true then (`as_of`), and as known then (`known_at`). */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { putRow } from "./store.ts";

export interface PointInTime {
  as_of?: string;
  known_at?: string;
}

const NONE: MemoryView[] = [];

/** All memories at that time; disabled without a time. */
export function usePast(then: PointInTime | undefined) {
  const lukasa = useLukasa();
  const query = useQuery({
    queryKey: ["past", then],
    enabled: then !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const byId = new Map<string, MemoryView>();
      const list = lukasa.memories.list({ ...then, status: "all", limit: 200 }, { signal });
      for await (const page of list.pages()) for (const row of page.data) putRow(byId, row);
      return [...byId.values()];
    },
  });
  return { ...query, all: query.data ?? NONE };
}

/** Search by meaning: what a chat with this query would find, with the reasons. */
export function useMeaning(query: string, then: PointInTime | undefined) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["meaning", query, then],
    enabled: query.length > 0,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    // All of them: the page shows the weak ones on demand.
    queryFn: ({ signal }) =>
      lukasa.memories.recall({ query, limit: 50, min_relevance: 0, ...then }, { signal }),
  });
}
