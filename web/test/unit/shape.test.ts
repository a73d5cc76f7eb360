import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import {
  areasOf,
  BEAD,
  clamped,
  countsOf,
  lanesOf,
  moved,
  neighbour,
  savedAt,
  wholeSpan,
  zoomed,
} from "../../src/pages/memory/shape-layout.ts";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const SPAN = { from: START, to: START + 100 * DAY };
const ALWAYS = Number.POSITIVE_INFINITY;
/** One column for each day. */
const WIDTH = 100 * BEAD.column;

function memory(id: string, day: number, domain: string | null = "food"): MemoryView {
  const created_at = new Date(START + day * DAY + DAY / 2).toISOString();
  return { id, domain, created_at } as MemoryView;
}

test("areas are ordered by size, and memories without an area are last", () => {
  const all = [memory("a", 1, null), memory("b", 1, null), memory("c", 1), memory("d", 1, "work")];
  assert.deepEqual(areasOf([...all, memory("e", 2, "work")]), ["work", "food", ""]);
});

test("beads of one moment are stacked, and many are one bead with all of them", () => {
  const few = [memory("a", 3), memory("b", 3), memory("c", 9)];
  const [lane] = lanesOf(few, ["food"], SPAN, ALWAYS, WIDTH);
  assert.deepEqual(
    lane?.beads.map(({ id, x }) => [id, x]),
    [
      ["a", 3.5 * BEAD.column],
      ["b", 3.5 * BEAD.column],
      ["c", 9.5 * BEAD.column],
    ],
  );
  assert.equal((lane?.beads[0]?.y ?? 0) - (lane?.beads[1]?.y ?? 0), BEAD.row);
  const many = Array.from({ length: 10_000 }, (_, at) => memory(`m${at}`, at % 3));
  const [crowded] = lanesOf(many, ["food"], SPAN, ALWAYS, WIDTH);
  assert.equal(crowded?.beads.length, 3);
  assert.equal(crowded?.count, 10_000);
});

test("a bead shows once its time has come, and lanes keep their place", () => {
  const all = [memory("a", 3), memory("b", 50), memory("c", 50), memory("d", 50, "work")];
  const lanes = lanesOf(all, ["food", "work"], SPAN, START + 10 * DAY, WIDTH);
  assert.deepEqual(
    lanes.map((lane) => lane.count),
    [1, 0],
  );
  assert.deepEqual(
    lanes.map((lane) => lane.top),
    lanesOf(all, ["food", "work"], SPAN, ALWAYS, WIDTH).map((lane) => lane.top),
  );
});

test("zoom keeps the moment in its place and ends at the whole span", () => {
  const around = START + 25 * DAY;
  const near = zoomed(SPAN, SPAN, 2, around);
  assert.equal(near.to - near.from, 50 * DAY);
  assert.equal((around - near.from) / (near.to - near.from), 0.25);
  assert.deepEqual(zoomed(near, SPAN, 1 / 8, around), SPAN);
  assert.equal(moved(near, SPAN, 5).to, SPAN.to);
  assert.equal(moved(near, SPAN, -5).from, SPAN.from);
});

test("arrow keys move along a lane and to the nearest bead of the next one that has any", () => {
  const all = [memory("a", 3), memory("b", 50), memory("c", 48, "work"), memory("d", 5, "work")];
  const lanes = lanesOf(all, ["food", "travel", "work"], SPAN, ALWAYS, WIDTH);
  assert.equal(neighbour(lanes, "a", "ArrowRight")?.id, "b");
  assert.equal(neighbour(lanes, "b", "ArrowRight"), undefined);
  assert.equal(neighbour(lanes, "b", "ArrowDown")?.id, "c");
  assert.equal(neighbour(lanes, "d", "ArrowUp")?.id, "a");
  assert.equal(neighbour(lanes, "c", "Home")?.id, "d");
});

test("table counts every memory of the span once", () => {
  const all = [memory("a", 0), memory("b", 99), memory("c", 99, "work"), memory("d", 40, null)];
  const rows = countsOf(all, ["food", "work", ""], SPAN, ALWAYS, 10);
  assert.equal(rows.length, 10);
  assert.deepEqual(rows[9]?.counts, [1, 1, 0]);
  assert.equal(
    rows.flatMap((row) => row.counts).reduce((sum, one) => sum + one, 0),
    4,
  );
});

test("whole span contains the first memory and now", () => {
  const now = START + 10 * DAY;
  const whole = wholeSpan([memory("a", 2)], now);
  assert.ok(whole.from < START + 2.5 * DAY && whole.to > now);
  assert.ok(wholeSpan([], now).to > wholeSpan([], now).from);
});

test("a few very old memories do not stretch the span, and are at its start", () => {
  const now = START + 100 * DAY;
  const old = memory("old", -12_000);
  const all = [old, ...Array.from({ length: 99 }, (_, at) => memory(`m${at}`, at))];
  const whole = wholeSpan(all, now);
  assert.ok(whole.to - whole.from < 200 * DAY);
  const [lane] = lanesOf(all, ["food"], whole, ALWAYS, WIDTH, 1, clamped(savedAt, whole));
  assert.equal(lane?.count, 100);
  assert.equal(lane?.beads[0]?.id, "old");
});
