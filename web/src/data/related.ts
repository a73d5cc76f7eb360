/** Which memories of a cluster are shown as related to one of them. Pure. */
import type { ClusterView, MemoryView } from "lukasa-client";
import { wordSet } from "./similar.ts";

/** A cluster may have hundreds of memories. */
const MAX_RELATED = 5;

/** The other memories of the cluster, those with most words in common first. */
export function relatedIn(
  clusters: readonly ClusterView[],
  { id, content }: Pick<MemoryView, "id" | "content">,
): ClusterView["memories"] {
  const cluster = clusters.find((one) => one.memories.some((member) => member.memory_id === id));
  const words = wordSet(content);
  const common = (text: string) => [...wordSet(text)].filter((word) => words.has(word)).length;
  return (cluster?.memories ?? [])
    .filter((member) => member.memory_id !== id)
    .map((member) => ({ member, shared: common(member.content) }))
    .sort((a, b) => b.shared - a.shared)
    .slice(0, MAX_RELATED)
    .map(({ member }) => member);
}
