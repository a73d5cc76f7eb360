/** Clusters: memories that the server groups by their links and the rare words they share. */
import { useQuery } from "@tanstack/react-query";
import type { ClusterView, MemoryView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { relatedIn } from "./related.ts";

/** The server computes the clusters on each request, so they are not read again after every change. */
const STALE_AFTER_MS = 5 * 60_000;

/** The memories of the cluster of this one that are most like it; none until they are read. */
export function useRelated(memory: MemoryView): readonly ClusterView["memories"][number][] {
  const lukasa = useLukasa();
  const clusters = useQuery({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => lukasa.clusters({ signal }),
    staleTime: STALE_AFTER_MS,
  });
  return relatedIn(clusters.data ?? [], memory);
}
