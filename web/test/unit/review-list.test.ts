import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import {
  areasOf,
  entriesOf,
  extend,
  NOTHING_SELECTED,
  toggle,
} from "../../src/pages/review/choice.ts";

const memory = (id: string, status: string, domain: string | null = null) =>
  ({ id, status, domain, updated_at: `2026-11-0${id.length}` }) as MemoryView;

const ALL = [
  memory("a", "candidate"),
  memory("bb", "proposed", "food"),
  memory("ccc", "active"),
  memory("dddd", "proposed", "work"),
  memory("eeeee", "proposed", "food"),
];

const ids = (entries: readonly MemoryView[]) => entries.map((entry) => entry.id);

test("review list has suggestions first, then guesses, the newest first", () => {
  assert.deepEqual(ids(entriesOf(ALL)), ["eeeee", "dddd", "bb", "a"]);
  assert.deepEqual(ids(entriesOf(ALL, "candidate")), ["a"]);
  assert.deepEqual(ids(entriesOf(ALL, "proposal", "food")), ["eeeee", "bb"]);
  assert.deepEqual(areasOf(entriesOf(ALL)), [
    ["food", 2],
    ["", 1],
    ["work", 1],
  ]);
});

test("review selection is toggled, and extended from its anchor", () => {
  const order = ["a", "b", "c", "d", "e"];
  const one = toggle(NOTHING_SELECTED, "b");
  const range = extend(one, "d", order);
  assert.deepEqual([...range.ids], ["b", "c", "d"]);
  assert.deepEqual([...extend(range, "a", order).ids].sort(), ["a", "b", "c", "d"]);
  assert.deepEqual([...toggle(range, "c").ids], ["b", "d"]);
  // Without an anchor that is listed, only the entry itself is chosen.
  assert.deepEqual([...extend({ ids: new Set(), anchor: "gone" }, "c", order).ids], ["c"]);
});
