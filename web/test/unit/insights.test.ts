import assert from "node:assert/strict";
import { test } from "node:test";
import { insights } from "../../src/i18n/en/insights.ts";
import { addMessages } from "../../src/i18n/index.ts";
import {
  byDomain,
  csv,
  csvOf,
  headlines,
  ratesOf,
  sectionsOf,
  top,
} from "../../src/pages/insights/charts.ts";
import type { Day } from "../../src/pages/insights/figures.ts";
import { factsOf } from "../../src/pages/insights/plain.ts";

addMessages({ insights });

const EMPTY: Day = {
  day: "2026-11-01",
  saved: 0,
  learned: 0,
  proposed: 0,
  confirmed: 0,
  rejected: 0,
  corrected: 0,
  forgotten: 0,
  memories: { strong: 0, tentative: 0, candidate: 0 },
  domains: [],
  retrievals: 0,
  degraded: 0,
  frozen: 0,
  tokens: 0,
  recall_ms: null,
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_micros: 0,
};

const on = (date: number, change: Partial<Day>): Day => ({
  ...EMPTY,
  day: `2026-11-${String(date).padStart(2, "0")}`,
  ...change,
});

const chartOf = (days: Day[], id: string) => {
  const found = sectionsOf(days)
    .flatMap((section) => section.charts)
    .find((chart) => chart.id === id);
  assert.ok(found, id);
  return found;
};

test("CSV has plain numbers and no formulas", () => {
  const chart = chartOf([on(1, { saved: 3 }), on(2, { saved: 1, learned: 2 })], "new");
  assert.equal(
    csvOf(chart),
    "Day,saved,learned,suggested\r\n2026-11-01,3,0,0\r\n2026-11-02,1,2,0\r\n",
  );
  assert.equal(csv([["=1+1", "a,b", 'say "hi"', "-5"]]), `'=1+1,"a,b","say ""hi""",-5\r\n`);
});

test("day without retrievals has null for time and tokens, not zero", () => {
  const days = [
    on(1, {}),
    on(2, { retrievals: 2, tokens: 40, recall_ms: { p50: 1, p95: 2, p99: 3 } }),
  ];
  assert.deepEqual(chartOf(days, "recall").series[1]?.values, [null, 2]);
  assert.deepEqual(chartOf(days, "tokens").series[0]?.values, [null, 40]);
});

test("chart axis ends at the next number that is easy to halve", () => {
  const high = (strong: number, tentative: number) =>
    top(chartOf([on(1, { memories: { strong, tentative, candidate: 0 } })], "known"));
  assert.equal(high(0, 0), 2);
  assert.equal(high(1, 0), 2);
  assert.equal(high(3, 2), 6);
  assert.equal(high(10, 0), 10);
  assert.equal(high(175, 35), 240);
  assert.equal(high(10_000, 0), 10_000);
  assert.equal(top(chartOf([on(1, { cost_micros: 2072 })], "cost")), 0.0024);
});

test("rates cover the week up to each day", () => {
  const days = Array.from({ length: 9 }, (_, at) => on(at + 1, {}));
  days[0] = on(1, { confirmed: 3, rejected: 1 });
  days[8] = on(9, { confirmed: 1, corrected: 1 });
  const rates = ratesOf(days);
  const at = (index: number) => rates.get(days[index] ?? EMPTY);
  assert.deepEqual(at(0), { confirmed: 0.75, corrected: 0, rejected: 0.25 });
  assert.deepEqual(at(6), at(0), "a week later they still count");
  assert.equal(at(7), undefined, "and then no longer");
  assert.deepEqual(at(8), { confirmed: 0.5, corrected: 0.5, rejected: 0 });
});

test("goal is evaluated only with enough retrievals", () => {
  const reuse = (retrievals: number, frozen: number) =>
    headlines([on(1, { retrievals, frozen })]).find((one) => one.id === "kept");
  assert.equal(reuse(0, 0)?.value, "–");
  assert.equal(reuse(3, 2)?.goal, undefined);
  assert.equal(reuse(100, 71)?.goal?.met, true);
  assert.equal(reuse(100, 70)?.goal?.met, false);
});

test("tokens are averaged by the retrievals of each day", () => {
  const days = [on(1, { retrievals: 1, tokens: 400 }), on(2, { retrievals: 3, tokens: 200 })];
  assert.equal(headlines(days).find((one) => one.id === "tokens")?.value, "250");
});

test("memories by domain: the largest by name, the rest together", () => {
  const domains = (all: Record<string, number>) =>
    Object.entries(all).map(([domain, memories]) => ({ domain: domain || null, memories }));
  const days = [
    on(1, { domains: domains({ food: 3, travel: 2, "": 1 }) }),
    on(2, {
      domains: domains({ food: 4, "": 9, travel: 2, work: 2, home: 1, music: 1, sport: 1 }),
    }),
    on(3, {}),
  ];
  const chart = byDomain(days, (domain) => domain);
  assert.deepEqual(
    chart.series.map(({ name, values }) => [name, ...values]),
    [
      ["food", 3, 4, 0],
      ["travel", 2, 2, 0],
      ["work", 0, 2, 0],
      ["home", 0, 1, 0],
      ["music", 0, 1, 0],
      ["others", 1, 10, 0],
    ],
  );
  assert.equal(csvOf(chart).split("\r\n")[2], "2026-11-02,4,2,2,1,1,10");
  const few = byDomain(days.slice(0, 1), (domain) => domain.toUpperCase());
  assert.deepEqual(
    few.series.map(({ name, values }) => [name, ...values]),
    [
      ["FOOD", 3],
      ["TRAVEL", 2],
      ["no area", 1],
    ],
  );
});

test("memories without an area are counted, and not as an area", () => {
  const domains = [
    { domain: null, memories: 14 },
    { domain: "food", memories: 6 },
  ];
  const { areas, withoutArea } = factsOf({ days: [], domains });
  assert.deepEqual([areas, withoutArea], [1, 14]);
  assert.equal(factsOf({ days: [], domains: [] }).withoutArea, 0);
});
