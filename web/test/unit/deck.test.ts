import assert from "node:assert/strict";
import { test } from "node:test";
import type { DomainView, MemoryView, ReviewItem } from "lukasa-client";
import { cardsOf, remainingCards, tally } from "../../src/pages/review/deck.ts";

const item = (kind: string, id: string) =>
  ({ kind, memory: { id } as MemoryView }) as unknown as ReviewItem;

test("deck has review items, then sensitive areas, without decided cards", () => {
  const health = { name: "health" } as DomainView;
  const cards = cardsOf(
    [item("candidate", "a"), item("unheard of", "b"), item("learned", "c")],
    [health],
  );
  assert.deepEqual(
    cards.map((card) => card.kind),
    ["candidate", "learned", "consent"],
  );
  const [first] = cards;
  assert.ok(first);
  const rest = remainingCards(cards, [{ number: 1, card: first, verdict: "kept" }]);
  assert.deepEqual(
    rest.map((card) => card.kind),
    ["learned", "consent"],
  );
  assert.equal(cardsOf([], []).length, 0);
});

test("tally of decisions has a fixed order", () => {
  const [first, second] = cardsOf([item("candidate", "a"), item("candidate", "b")], []);
  assert.ok(first && second);
  assert.deepEqual(
    tally([
      { number: 2, card: first, verdict: "skipped" },
      { number: 3, card: second, verdict: "kept" },
    ]),
    [
      ["kept", 1],
      ["skipped", 1],
    ],
  );
});
