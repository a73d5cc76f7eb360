/** Clusters: memories that the server groups by their links and the rare words they share. */
import { useQuery } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { useLinks, useMemories } from "./memories.ts";
import { relatedIn } from "./related.ts";

/** The server computes the clusters on each request, so they are not read again after every change. */
const STALE_AFTER_MS = 5 * 60_000;

/** Memories of the same cluster, apart from those that are linked to it; none until all is read. */
export function useRelated(memory: MemoryView): readonly MemoryView[] {
  const lukasa = useLukasa();
  const { byId } = useMemories();
  const links = useLinks(memory.id);
  const clusters = useQuery({
    queryKey: ["clusters"],
    // Only ids: the texts are those of the store, from which changed and erased ones are gone at once.
    queryFn: async ({ signal }) =>
      (await lukasa.clusters({ signal })).map((one) =>
        one.memories.map(({ memory_id }) => memory_id),
      ),
    staleTime: STALE_AFTER_MS,
  });
  if (!links.data || !clusters.data) return [];
  const linked = new Set(links.data.flatMap((link) => [link.from_id, link.to_id]));
  return relatedIn(clusters.data, memory, byId, linked);
}
