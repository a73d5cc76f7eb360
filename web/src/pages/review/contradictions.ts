/** Contradictions, answered one by one or many at once: the requests of an answer. */
import type { Lukasa, ReviewItem, WriteResult } from "lukasa-client";

/** What the user says about a contradiction: the first is true, the second, both, or the second replaced the first. */
export type PairVerdict = "first" | "second" | "both" | "changed";

/** A contradiction of the review, whose second side is given. */
export type Pair = ReviewItem & { against: NonNullable<ReviewItem["against"]> };

export function pairsOf(items: readonly ReviewItem[]): Pair[] {
  return items.filter(
    (item): item is Pair => item.kind === "contradiction" && Boolean(item.against),
  );
}

/** The same memory may contradict several others, so a pair is named by both. */
export function pairId({ memory, against }: Pair): string {
  return `${memory.id} ${against.id}`;
}

/**
 * The pairs of which no two have a memory in common: an answer to one pair may settle another one with the same
 * memory, so that one is answered after the list was read again.
 */
export function independent(pairs: readonly Pair[]): Pair[] {
  const taken = new Set<string>();
  return pairs.filter(({ memory, against }) => {
    if (taken.has(memory.id) || taken.has(against.id)) return false;
    taken.add(memory.id).add(against.id);
    return true;
  });
}

type Run = () => Promise<WriteResult>;

/** The requests of an answer to one pair, in their order. A change without a day was when the second was said. */
export function pairRuns(lukasa: Lukasa, pair: Pair, verdict: PairVerdict, on?: string): Run[] {
  const { yes, no, both } = pair;
  if (verdict === "changed") {
    return changeRuns(lukasa, pair, on ?? startOf(pair.against.valid_from));
  }
  const answer = { first: yes, second: no, both }[verdict];
  return answer ? [() => lukasa.review.answer(answer)] : [];
}

/** Both sides were true, one after the other: the first ended on a day, and the second began. */
export function changeRuns(lukasa: Lukasa, item: ReviewItem, on: string): Run[] {
  const { both, memory, against } = item;
  if (!both || !against) return [];
  const mode = "correction";
  // A memory that was saved after the change was true before it, if only from the day before.
  const began = Date.parse(memory.valid_from) < Date.parse(on) ? undefined : dayBefore(on);
  return [
    () => lukasa.review.answer(both),
    () => lukasa.memories.update(memory.id, { mode, valid_from: began, valid_until: on }),
    () => lukasa.memories.update(against.id, { mode, valid_from: on }),
  ];
}

/** The start of a day, or of the day of a time. */
export function startOf(at: string): string {
  return `${at.slice(0, 10)}T00:00:00Z`;
}

const DAY_MS = 86_400_000;

function dayBefore(at: string): string {
  return new Date(Date.parse(at) - DAY_MS).toISOString();
}
