/** Memories that say nearly the same as a new text. Pure. */
import type { MemoryView } from "lukasa-client";
import { plain } from "./select.ts";

/** This share of the words of the shorter text has to occur in the other one. */
const MIN_SHARE = 0.75;
const MIN_COMMON_WORDS = 2;

/** The words of a text that say something, without case and accents. */
export function wordSet(text: string): Set<string> {
  return new Set(plain(text).match(/[\p{L}\p{N}]{3,}/gu) ?? []);
}

/** The most similar active memories, at most `limit`. */
export function similarMemories(
  memories: readonly MemoryView[],
  text: string,
  limit: number,
): MemoryView[] {
  const wanted = wordSet(text);
  if (wanted.size < MIN_COMMON_WORDS) return [];
  const found: { memory: MemoryView; share: number }[] = [];
  for (const memory of memories) {
    if (memory.status !== "active") continue;
    const words = wordSet(memory.content);
    const common = [...wanted].filter((word) => words.has(word)).length;
    const share = common / Math.min(wanted.size, words.size);
    if (common >= MIN_COMMON_WORDS && share >= MIN_SHARE) found.push({ memory, share });
  }
  return found
    .sort((a, b) => b.share - a.share)
    .slice(0, limit)
    .map(({ memory }) => memory);
}
