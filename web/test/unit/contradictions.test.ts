import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lukasa, ReviewItem } from "lukasa-client";
import {
  independent,
  type Pair,
  pairRuns,
  pairsOf,
} from "../../src/pages/review/contradictions.ts";

const pair = (memory: string, against: string) =>
  ({
    kind: "contradiction",
    memory: { id: memory, valid_from: "2026-01-05T10:00:00Z" },
    against: { id: against, valid_from: "2026-03-04T10:00:00Z" },
    yes: { path: "yes" },
    no: { path: "no" },
    both: { path: "both" },
  }) as Pair;

/** A client that notes what it is asked. */
function noting() {
  const asked: unknown[] = [];
  const lukasa = {
    review: { answer: async ({ path }: { path: string }) => asked.push(path) },
    memories: { update: async (id: string, edits: object) => asked.push([id, edits]) },
  } as unknown as Lukasa;
  return { asked, lukasa };
}

test("contradictions are the review items with two sides", () => {
  const items = [pair("a", "b"), { kind: "candidate" }, { kind: "contradiction" }] as ReviewItem[];
  assert.equal(pairsOf(items).length, 1);
});

test("bulk answers leave out a contradiction with a memory of an earlier one", () => {
  const pairs = [pair("a", "b"), pair("a", "c"), pair("d", "b"), pair("e", "f")];
  assert.deepEqual(independent(pairs), [pairs[0], pairs[3]]);
});

test("contradiction answers are the requests of the item", async () => {
  const { asked, lukasa } = noting();
  for (const verdict of ["first", "second", "both"] as const) {
    for (const run of pairRuns(lukasa, pair("a", "b"), verdict)) await run();
  }
  assert.deepEqual(asked, ["yes", "no", "both"]);
});

test("contradiction that changed keeps both, one until the day and one since then", async () => {
  const { asked, lukasa } = noting();
  for (const run of pairRuns(lukasa, pair("a", "b"), "changed", "2026-02-01T00:00:00Z"))
    await run();
  const mode = "correction";
  assert.deepEqual(asked, [
    "both",
    ["a", { mode, valid_from: undefined, valid_until: "2026-02-01T00:00:00Z" }],
    ["b", { mode, valid_from: "2026-02-01T00:00:00Z" }],
  ]);
});

test("contradiction that changed without a day changed when the second was said", async () => {
  const { asked, lukasa } = noting();
  for (const run of pairRuns(lukasa, pair("a", "b"), "changed")) await run();
  assert.deepEqual(asked[2], ["b", { mode: "correction", valid_from: "2026-03-04T00:00:00Z" }]);
});
