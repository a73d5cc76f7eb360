import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import { growthOf, hasChanged, knownAt, usedIn } from "../../src/data/versions.ts";
import { labelsOf, ticksOf } from "../../src/pages/memory/shape-axis.ts";
import {
  areasOf,
  clamped,
  lanesOf,
  moved,
  neighbour,
  placesOf,
  planOf,
  type Span,
  savedAt,
  spanOf,
  timeAt,
  wholeSpan,
  xOf,
  zoomed,
} from "../../src/pages/memory/shape-layout.ts";
import { type Picture, pictureOf } from "../../src/pages/memory/shape-picture.ts";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const SPAN = { from: START, to: START + 100 * DAY };
const SIZE = { width: 1_200, height: 640, finger: false };

function memory(id: string, day: number, domain: string | null = "food"): MemoryView {
  const created_at = new Date(START + day * DAY + DAY / 2).toISOString();
  return { id, domain, created_at, known_from: created_at, content: id } as MemoryView;
}

function board(all: MemoryView[], areas: string[], span: Span = SPAN, size = SIZE) {
  const places = placesOf(all, areas, savedAt);
  const plan = planOf(places, span, size);
  return { plan, lanes: lanesOf(places, areas, span, plan) };
}

test("areas are ordered by size, and memories without an area are last", () => {
  const all = [memory("a", 1, null), memory("b", 1, null), memory("c", 1), memory("d", 1, "work")];
  assert.deepEqual(areasOf([...all, memory("e", 2, "work")]), ["work", "food", ""]);
});

test("beads of one time are stacked around the string, and many are one bead with all of them", () => {
  const few = board([memory("a", 3), memory("b", 3), memory("c", 90)], ["food"]);
  const [lane] = few.lanes;
  assert.deepEqual(
    lane?.beads.map(({ id }) => id),
    ["a", "b", "c"],
  );
  const [a, b, c] = lane?.beads ?? [];
  assert.ok(a && b && c && lane);
  assert.equal(a.x, b.x);
  assert.equal(a.y - b.y, few.plan.pitch);
  assert.equal((a.y + b.y) / 2, lane.string);
  const many = Array.from({ length: 10_000 }, (_, at) => memory(`m${at}`, at % 100));
  const crowded = board(many, ["food"]);
  assert.ok((crowded.lanes[0]?.beads.length ?? 0) <= crowded.plan.columns);
  assert.equal(crowded.lanes[0]?.count, 10_000);
});

test("no bead is cut at an edge, or overlaps the next lane", () => {
  const all = Array.from({ length: 600 }, (_, at) =>
    memory(`m${at}`, (at * 7) % 101, ["food", "work", "travel"][at % 3]),
  );
  for (const finger of [false, true]) {
    for (const width of [358, 800, 1_400]) {
      const size = { width, height: 500, finger };
      const { plan, lanes } = board(all, ["food", "work", "travel"], SPAN, size);
      for (const lane of lanes)
        for (const { x, y, radius } of lane.beads) {
          assert.ok(x - radius >= 0 && x + radius <= width, `${x} of ${width}`);
          assert.ok(y - radius >= lane.top && y + radius <= lane.top + plan.laneHeight);
        }
    }
  }
});

test("beads for fingers have 44 pixels each", () => {
  const size = { width: 358, height: 400, finger: true };
  const { plan } = board([memory("a", 1), memory("b", 50)], ["food"], SPAN, size);
  assert.ok(plan.pitch >= 44 && plan.plot / plan.columns >= 44);
  assert.ok(plan.laneHeight - plan.nameHeight >= 44);
});

test("lanes fill the height, and are higher than it where the areas are many", () => {
  const all = ["a", "b", "c", "d"].map((area, at) => memory(area, at, area));
  assert.equal(board(all, ["a", "b", "c", "d"]).plan.height, SIZE.height - 2);
  const areas = Array.from({ length: 20 }, (_, at) => `area ${at}`);
  assert.ok(board([], areas).plan.height > SIZE.height);
});

test("a place on the board and its time belong together", () => {
  const { plan } = board([memory("a", 3)], ["food"]);
  const at = START + 40 * DAY;
  assert.ok(Math.abs(timeAt(plan, SPAN, xOf(plan, SPAN, at)) - at) < 1_000);
});

test("zoom keeps the moment in its place and ends at the whole span", () => {
  const around = START + 25 * DAY;
  const near = zoomed(SPAN, SPAN, 2, around);
  assert.equal(near.to - near.from, 50 * DAY);
  assert.equal((around - near.from) / (near.to - near.from), 0.25);
  assert.deepEqual(zoomed(near, SPAN, 1 / 8, around), SPAN);
  assert.equal(moved(near, SPAN, 5).to, SPAN.to);
  assert.equal(moved(near, SPAN, -5).from, SPAN.from);
  assert.ok(zoomed(SPAN, SPAN, 1e9, around).to - zoomed(SPAN, SPAN, 1e9, around).from >= 3_600_000);
});

test("span of some memories has all of them, and is never empty", () => {
  const all = [memory("a", 3), memory("b", 5), memory("c", 50)];
  const some = spanOf(all.slice(0, 2), SPAN, savedAt);
  assert.ok(some.from < savedAt(all[0] as MemoryView) && some.to > savedAt(all[1] as MemoryView));
  assert.ok(some.to - some.from < 3 * DAY);
  const one = spanOf(all.slice(0, 1), SPAN, savedAt);
  assert.equal(one.to - one.from, 3_600_000);
});

test("arrow keys move along a lane and to the nearest bead of the next one that has any", () => {
  const all = [memory("a", 3), memory("b", 50), memory("c", 48, "work"), memory("d", 5, "work")];
  const { lanes } = board(all, ["food", "travel", "work"]);
  assert.equal(neighbour(lanes, "a", "ArrowRight")?.id, "b");
  assert.equal(neighbour(lanes, "b", "ArrowRight"), undefined);
  assert.equal(neighbour(lanes, "b", "ArrowDown")?.id, "c");
  assert.equal(neighbour(lanes, "d", "ArrowUp")?.id, "a");
  assert.equal(neighbour(lanes, "c", "Home")?.id, "d");
  assert.equal(neighbour(lanes, "d", "End")?.id, "c");
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
  const places = placesOf(all, ["food"], clamped(savedAt, whole));
  const [lane] = lanesOf(places, ["food"], whole, planOf(places, whole, SIZE));
  assert.equal(lane?.count, 100);
  assert.equal(lane?.beads[0]?.id, "old");
});

test("ticks are the first of every month, and none is left out", () => {
  const span = { from: Date.UTC(2026, 1, 10), to: Date.UTC(2027, 1, 5) };
  const ticks = ticksOf(span, 1_300, 76, "en-GB", "Europe/Berlin");
  assert.deepEqual(
    labelsOf(ticks, (tick) => (tick.at - span.from) / (20 * DAY), 100, 0),
    "Feb 2026,Mar,Apr,May,Jun,Jul,Aug,Sept,Oct,Nov,Dec,Jan 2027,Feb".split(","),
  );
  const local = new Intl.DateTimeFormat("en-GB", {
    timeZone: "Europe/Berlin",
    day: "numeric",
    hour: "numeric",
    hourCycle: "h23",
  });
  for (const tick of ticks.slice(1)) assert.equal(local.format(tick.at), "1, 00");
});

test("ticks are on the boundaries of hours, days, weeks and years, at the distance that fits", () => {
  const from = Date.UTC(2026, 9, 24, 5);
  const at = (days: number, width = 1_000) =>
    ticksOf({ from, to: from + days * DAY }, width, 76, "en-GB", "Europe/Berlin");
  // The clocks go back on 25 October: the day has 25 hours, and every tick is still at midnight.
  assert.deepEqual(
    at(5, 500).map((tick) => tick.label),
    ["24 Oct", "25 Oct", "26 Oct", "27 Oct", "28 Oct", "29 Oct"],
  );
  assert.equal(at(1)[1]?.label, "9:00");
  assert.equal(at(1 / 48)[1]?.label, "7:05");
  assert.ok(
    at(60)
      .slice(1)
      .every((tick) => new Date(tick.at + 2 * 3_600_000).getUTCDay() === 1),
  );
  assert.deepEqual(
    at(4_000)
      .slice(1, 4)
      .map((tick) => tick.label),
    ["2027", "2028", "2029"],
  );
  for (const days of [1, 5, 60, 400, 4_000]) {
    const gaps = at(days)
      .slice(2)
      .map((tick, place) => tick.at - (at(days)[place + 1]?.at ?? 0));
    assert.ok(
      gaps.every((gap) => (gap / (days * DAY)) * 1_000 > 60),
      `${days}`,
    );
  }
});

function version(id: string, part: Partial<MemoryView>): MemoryView {
  const times = { known_from: day(0), valid_from: day(0), created_at: day(0) };
  return { id, status: "active", version: 1, ...times, ...part } as MemoryView;
}

const day = (at: number) => new Date(START + at * DAY).toISOString();

test("memory of a day has what was known and true then, also what was changed and forgotten since", () => {
  const versions = [
    version("a", { status: "superseded", known_until: day(50), content: "Lives in Berlin" }),
    version("a", { known_from: day(50), valid_from: day(40), content: "Lives in Lisbon" }),
    version("b", { status: "superseded", known_from: day(10), known_until: day(20) }),
    version("b", { status: "forgotten", known_from: day(20) }),
    version("c", { valid_from: day(30), valid_until: day(60) }),
    version("d", { status: "proposed" }),
  ].flatMap((one) => usedIn(one) ?? []);
  const at = (days: number) =>
    knownAt(versions, START + days * DAY)
      .map((one) => one.id)
      .join();
  assert.equal(at(5), "a");
  assert.equal(at(15), "a,b");
  assert.equal(at(25), "a");
  assert.equal(at(35), "a,c");
  assert.deepEqual(knownAt(versions, START + 45 * DAY)[0]?.content, "Lives in Berlin");
  assert.deepEqual(knownAt(versions, START + 55 * DAY)[0]?.content, "Lives in Lisbon");
  assert.equal(at(70), "a");
  const times = [-1, 5, 15, 25, 35, 70].map((days) => START + days * DAY);
  assert.deepEqual(growthOf(versions, times), [0, 1, 2, 1, 2, 1]);
});

test("only a memory that was never changed needs no history", () => {
  assert.equal(hasChanged(version("a", {})), false);
  assert.equal(hasChanged(version("a", { version: 2 })), true);
  assert.equal(hasChanged(version("a", { known_from: day(3) })), true);
  assert.equal(hasChanged(version("a", { status: "forgotten" })), true);
});

test("picture has no text of a memory unless asked, and escapes what it has", () => {
  const all = [memory("Likes <b>rye</b> & butter", 3), memory("Works \u0000 in Porto", 50, "work")];
  const shown = all.map((one) => ({
    ...one,
    origin: "user_said",
    tier: "strong",
    status: "active",
  }));
  const { plan, lanes } = board(shown as MemoryView[], ["food", "work"]);
  const colours = { canvas: "#fff", sunken: "#eee", surface: "#fff", line: "#ccc", ink: "#000" };
  const picture: Picture = {
    title: "Memory",
    subtitle: "2 memories",
    lanes,
    plan,
    span: SPAN,
    ticks: [],
    nameOf: (domain) => domain,
    legend: [{ shape: "certain", name: "certain" }],
    colours: { ...colours, muted: "#666", areas: [] },
    texts: false,
  };
  const without = pictureOf(picture).svg;
  assert.ok(without.includes("2 memories") && without.includes("food"));
  assert.ok(!without.includes("rye") && !without.includes("Porto"));
  const { svg, height } = pictureOf({ ...picture, texts: true });
  assert.ok(svg.includes("Likes &lt;b&gt;rye&lt;/b&gt; &amp; butter"));
  assert.ok(!svg.includes("\u0000"));
  assert.ok(height > pictureOf(picture).height);
});
