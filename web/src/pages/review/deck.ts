/**
 * The deck of the Review page: which card lies on top, and what was decided. Pure. The server's list is
 * the deck; what was decided here is taken out of it at once, and comes back when it is undone.
 */
import type { DomainView, ReviewItem } from "lukasa-client";

export const KINDS = ["proposal", "contradiction", "doubt", "guess", "learned", "consent"] as const;
export type Kind = (typeof KINDS)[number];

export type Card =
  | { kind: Exclude<Kind, "consent">; id: string; item: ReviewItem }
  | { kind: "consent"; id: "consent"; domains: readonly DomainView[] };

export type Verdict = "kept" | "forgotten" | "corrected" | "skipped" | "opened" | "never";

export interface Decision {
  /** Counts up: a card may be answered, taken back and answered again while the first is on its way. */
  number: number;
  card: Card;
  verdict: Verdict;
  /** What it says now, if it was corrected or the other side was chosen. */
  words?: string;
  /** What takes it back, once the server has answered. */
  operation?: string;
}

/** The cards there are: what the server asks, and last the areas of a life that may be opened. */
export function cardsOf(items: readonly ReviewItem[], domains: readonly DomainView[]): Card[] {
  const cards = items.flatMap((item): Card[] => {
    const kind = KINDS.find((one) => one === item.kind);
    if (!kind || kind === "consent") return [];
    return [{ kind, id: `${item.memory.id} ${item.against?.id ?? ""}`, item }];
  });
  if (domains.length > 0) cards.push({ kind: "consent", id: "consent", domains });
  return cards;
}

/** What still lies there, the top card first. */
export function left(cards: readonly Card[], decided: readonly Decision[]): Card[] {
  const gone = new Set(decided.map((one) => one.card.id));
  return cards.filter((card) => !gone.has(card.id));
}

/** How often each was decided, in the order in which they are told. */
export function tally(decided: readonly Decision[]): [Verdict, number][] {
  const order: Verdict[] = ["kept", "forgotten", "corrected", "opened", "never", "skipped"];
  return order
    .map((verdict): [Verdict, number] => [
      verdict,
      decided.filter((one) => one.verdict === verdict).length,
    ])
    .filter(([, count]) => count > 0);
}
