/** Which memories of a cluster are shown as related to one of them. Pure. */
import type { MemoryView } from "lukasa-client";
import { wordSet } from "./similar.ts";

/** A cluster may have hundreds of memories. */
const MAX_RELATED = 5;

/** The words of a memory, without the subject that all learned ones have. */
function ownWords(text: string): Set<string> {
  const words = wordSet(text);
  words.delete("user");
  return words;
}

/** The other active memories of the cluster, those with most words in common first. */
export function relatedIn(
  clusters: readonly (readonly string[])[],
  { id, content }: Pick<MemoryView, "id" | "content">,
  byId: ReadonlyMap<string, MemoryView>,
  without: ReadonlySet<string>,
): MemoryView[] {
  const words = ownWords(content);
  const common = (text: string) => [...ownWords(text)].filter((word) => words.has(word)).length;
  return (clusters.find((cluster) => cluster.includes(id)) ?? [])
    .filter((other) => other !== id && !without.has(other))
    .flatMap((other) => byId.get(other) ?? [])
    .filter((memory) => memory.status === "active")
    .map((memory) => ({ memory, shared: common(memory.content) }))
    .sort((a, b) => b.shared - a.shared)
    .slice(0, MAX_RELATED)
    .map(({ memory }) => memory);
}
