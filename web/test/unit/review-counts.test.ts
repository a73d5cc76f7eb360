import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReviewItem, ReviewView } from "lukasa-client";
import { putItem, unlistedIn, waitingIn } from "../../src/data/review-counts.ts";

const item = (kind: string, id: string) => ({ kind, memory: { id } }) as ReviewItem;

const REVIEW = {
  data: [item("proposal", "a"), item("proposal", "b"), item("outdated", "c")],
  counts: { proposals: 3_000, contradictions: 0, outdated: 1, candidates: 0, learned: 0 },
  domains: [{ domain: "health" }, { domain: "finance" }],
} as ReviewView;

test("review counts all items, and one card for all mentioned areas", () => {
  assert.equal(waitingIn(REVIEW), 3_002);
  assert.equal(waitingIn({ ...REVIEW, domains: [] }), 3_001);
});

test("review counts what is not listed by kind", () => {
  const unlisted = unlistedIn(REVIEW);
  assert.equal(unlisted.get("proposal"), 2_998);
  assert.equal(unlisted.get("outdated"), 0);
  assert.equal(unlisted.get("candidate"), 0);
});

test("review item that is put back is counted once", () => {
  const once = putItem(REVIEW, item("candidate", "d"));
  assert.deepEqual(
    once.data.map((one) => one.memory.id),
    ["d", "a", "b", "c"],
  );
  assert.equal(once.counts.candidates, 1);
  assert.equal(putItem(once, item("candidate", "d")).counts.candidates, 1);
  assert.equal(putItem(undefined, item("outdated", "a")).counts.outdated, 1);
});
