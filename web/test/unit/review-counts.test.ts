import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReviewItem, ReviewView } from "lukasa-client";
import { putItem, unlistedIn, waitingIn } from "../../src/data/review-counts.ts";

const item = (kind: string, id: string) => ({ kind, memory: { id } }) as ReviewItem;

const REVIEW = {
  data: [item("proposal", "a"), item("proposal", "b"), item("doubt", "c")],
  counts: { proposals: 3_000, contradictions: 0, doubts: 1, guesses: 0, learned: 0 },
  domains: [{ domain: "health" }, { domain: "finance" }],
} as ReviewView;

test("review counts all items, and one card for all mentioned areas", () => {
  assert.equal(waitingIn(REVIEW), 3_002);
  assert.equal(waitingIn({ ...REVIEW, domains: [] }), 3_001);
});

test("review counts what is not listed by kind", () => {
  const unlisted = unlistedIn(REVIEW);
  assert.equal(unlisted.get("proposal"), 2_998);
  assert.equal(unlisted.get("doubt"), 0);
  assert.equal(unlisted.get("guess"), 0);
});

test("review item that is put back is counted once", () => {
  const once = putItem(REVIEW, item("guess", "d"));
  assert.deepEqual(
    once.data.map((one) => one.memory.id),
    ["d", "a", "b", "c"],
  );
  assert.equal(once.counts.guesses, 1);
  assert.equal(putItem(once, item("guess", "d")).counts.guesses, 1);
  assert.equal(putItem(undefined, item("doubt", "a")).counts.doubts, 1);
});
