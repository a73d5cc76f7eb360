/** Splits what a search by meaning found into good and weaker matches. Pure. */
import type { FoundMemory } from "lukasa-client";

/** A match is good if it contains a word of the query, or is at least this share as relevant as the best. */
const MIN_RELEVANCE_SHARE = 0.6;

/** The good matches and the weaker ones of a search by meaning, each in the order of the server. */
export function splitByRelevance(
  found: readonly FoundMemory[],
): [good: FoundMemory[], weaker: FoundMemory[]] {
  const best = Math.max(0, ...found.map(({ why }) => why.relevance));
  const isGood = ({ why }: FoundMemory) =>
    why.matched.length > 0 || (best > 0 && why.relevance >= best * MIN_RELEVANCE_SHARE);
  return [found.filter(isGood), found.filter((one) => !isGood(one))];
}
