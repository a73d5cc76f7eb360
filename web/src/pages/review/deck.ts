/**
 * The deck of the Review page: its cards and decisions. Pure. The deck is the server's list without the cards
 * decided here, which return when their decision is undone.
 */
import type { DomainView, ReviewItem } from "lukasa-client";

export const KINDS = [
  "proposal",
  "contradiction",
  "outdated",
  "candidate",
  "learned",
  "consent",
] as const;
export type Kind = (typeof KINDS)[number];

export type Card =
  | { kind: Exclude<Kind, "consent">; id: string; item: ReviewItem }
  | {
      kind: "consent";
      id: "consent";
      domains: readonly DomainView[];
      /** Those of them that the user mentioned, and is asked about. */
      mentioned: readonly DomainView[];
    };

export type Verdict = "kept" | "forgotten" | "corrected" | "skipped" | "opened" | "never";

export interface Decision {
  /** A serial number: a card may be answered, undone and answered again while the first is pending. */
  number: number;
  card: Card;
  verdict: Verdict;
  /** The new text, if it was corrected or the other side was chosen. */
  words?: string;
  /** The operation that undo reverts, once the server has answered. */
  operation?: string;
  /** Operations that followed it, the latest first: they are undone before it. */
  later?: readonly string[];
}

/** All cards: the review items, and last the card for sensitive domains. */
export function cardsOf(
  items: readonly ReviewItem[],
  domains: readonly DomainView[],
  mentioned: readonly DomainView[] = [],
): Card[] {
  const cards = items.flatMap((item): Card[] => {
    const kind = KINDS.find((one) => one === item.kind);
    if (!kind || kind === "consent") return [];
    return [{ kind, id: `${item.memory.id} ${item.against?.id ?? ""}`, item }];
  });
  if (domains.length > 0) cards.push({ kind: "consent", id: "consent", domains, mentioned });
  return cards;
}

/** The undecided cards, the top card first. */
export function remainingCards(cards: readonly Card[], decided: readonly Decision[]): Card[] {
  const decidedIds = new Set(decided.map((one) => one.card.id));
  return cards.filter((card) => !decidedIds.has(card.id));
}

/** Counts of the verdicts, in display order. */
export function tally(decided: readonly Decision[]): [Verdict, number][] {
  const order: Verdict[] = ["kept", "forgotten", "corrected", "opened", "never", "skipped"];
  return order
    .map((verdict): [Verdict, number] => [
      verdict,
      decided.filter((one) => one.verdict === verdict).length,
    ])
    .filter(([, count]) => count > 0);
}
