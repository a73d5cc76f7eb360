import assert from "node:assert/strict";
import { test } from "node:test";
import { confirmedAt } from "../../src/data/confirmed.ts";

const AT = "2026-11-08T10:00:00Z";
const LATER = "2026-11-09T10:00:00Z";

test("what an assistant told is confirmed by consent alone", () => {
  for (const [origin, again, agreed, shown] of [
    ["user_said", AT, null, AT],
    ["user_turn", AT, null, AT],
    ["user_said", null, null, undefined],
    ["assistant", AT, null, undefined],
    ["assistant", AT, AT, AT],
    ["assistant", LATER, AT, AT],
    ["user_said", LATER, AT, LATER],
    ["user_said", null, AT, AT],
  ] as const) {
    const memory = { origin, last_confirmed_at: again, consented_at: agreed };
    assert.equal(confirmedAt(memory), shown, `${origin} ${again} ${agreed}`);
  }
});
