import assert from "node:assert/strict";
import { test } from "node:test";
import { hiddenUntil, isInvited } from "../../src/pages/review/invited.ts";

const DUE = { due: true, learned_since: 3 };
const NOW = Date.parse("2026-03-01T12:00:00Z");
const day = (days: number) => NOW + days * 24 * 60 * 60 * 1000;

test("review invites once a month, and later hides it", () => {
  assert.equal(isInvited(undefined, 0, NOW), false);
  assert.equal(isInvited({ due: false, learned_since: 3 }, 0, NOW), false);
  assert.equal(isInvited(DUE, 0, NOW), true);
  const until = hiddenUntil(NOW);
  assert.equal(isInvited(DUE, until, day(29)), false);
  assert.equal(isInvited(DUE, until, day(31)), true);
});
