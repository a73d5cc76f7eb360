/** Counts of the review: the server lists only the first items of each kind, and counts all of them. Pure. */
import type { ReviewItem, ReviewView } from "lukasa-client";

/** The count of each kind of item. */
const COUNTED: Readonly<Record<string, keyof ReviewView["counts"] | undefined>> = {
  proposal: "proposals",
  contradiction: "contradictions",
  outdated: "outdated",
  candidate: "candidates",
  learned: "learned",
};

const NOTHING: ReviewView = {
  data: [],
  counts: { proposals: 0, contradictions: 0, outdated: 0, candidates: 0, learned: 0 },
  domains: [],
  periodic: { due: false, learned_since: 0 },
};

/** The review with this item on top, before the server lists it again. */
export function putItem(view: ReviewView = NOTHING, item: ReviewItem): ReviewView {
  const rest = view.data.filter((one) => one.memory.id !== item.memory.id);
  const counts = { ...view.counts };
  const kind = COUNTED[item.kind];
  if (kind && rest.length === view.data.length) counts[kind]++;
  return { ...view, data: [item, ...rest], counts };
}

/** The number of cards: all items, and one card for all mentioned domains. */
export function waitingIn({ counts, domains }: ReviewView): number {
  const items = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return items + Math.min(domains.length, 1);
}

/** How many items of each kind are not listed. */
export function unlistedIn({
  data,
  counts,
}: Pick<ReviewView, "data" | "counts">): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(COUNTED).map(([kind, name]) => {
      const listed = data.filter((item) => item.kind === kind).length;
      return [kind, Math.max(0, (name ? counts[name] : 0) - listed)];
    }),
  );
}
