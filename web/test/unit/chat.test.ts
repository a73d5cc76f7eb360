import assert from "node:assert/strict";
import { test } from "node:test";
import type { RetrievalView, SessionView, TurnView } from "lukasa-client";
import { byAge } from "../../src/data/recency.ts";
import { blocks } from "../../src/pages/chat/markdown.ts";
import { joined, messagesOf, type Round, roundsOf, whole } from "../../src/pages/chat/rounds.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 15, 20, 0, second)).toISOString();

function turn(number: number, role: string, content: string, second: number): TurnView {
  return { number, role, content, said_at: at(second) } as TurnView;
}

function retrieval(id: string, second: number, calls: object[] = []): RetrievalView {
  const item = { mark: "m1", source: { memory_id: "mem_1" } };
  return { id, at: at(second), trace: { calls, baseline: [item], dynamic: [] } } as RetrievalView;
}

const CALL = { id: "c", name: "save_memory", query: null, memory_ids: ["mem_1"] };
const TURNS = [
  turn(1, "user", "Hi", 0),
  turn(2, "assistant", "Hello", 4),
  turn(3, "user", "Remember tea", 10),
  turn(4, "assistant", "Saved", 14),
];

test("rounds have what they were given, by the time at which it was asked for", () => {
  // The third belongs to a question whose answer was never kept.
  const given = [retrieval("late", 20), retrieval("two", 11, [CALL]), retrieval("one", 1)];
  const rounds = roundsOf(TURNS, given);
  assert.deepEqual(
    rounds.map(({ asked, answer, turn, retrieval }) => [asked, answer, turn, retrieval]),
    [
      ["Hi", "Hello", 2, "one"],
      ["Remember tea", "Saved", 4, "two"],
    ],
  );
  assert.equal(rounds[1]?.calls[0]?.name, "save_memory");
  assert.deepEqual(rounds[0]?.marks, { m1: "mem_1" });
});

function live(change: Partial<Round>): Round {
  const [round] = roundsOf([turn(0, "user", "Remember tea", 10)]);
  assert.ok(round);
  return { ...round, key: "live-1", number: 2, turn: null, ...change };
}

test("a round that was seen happening is there once, whatever is read of it first", () => {
  const seen = live({ retrieval: "two", answer: "Saved", calls: roundsOf(TURNS)[0]?.calls ?? [] });
  const keys = (kept: Round[]) => joined(kept, [seen]).map((round) => round.key);
  assert.deepEqual(keys(roundsOf(TURNS.slice(0, 2))), ["turn-1", "live-1"]);
  // What was said is read before what it was given.
  assert.deepEqual(keys(roundsOf(TURNS)), ["turn-1", "live-1"]);
  assert.deepEqual(whole(roundsOf(TURNS), [seen]), []);
  const all = roundsOf(TURNS, [retrieval("two", 11)]);
  assert.deepEqual(keys(all), ["turn-1", "live-1"]);
  assert.equal(joined(all, [seen])[1]?.turn, 4);
  assert.deepEqual(whole(all, [seen]), [seen]);
});

test("the same words said again are another round", () => {
  const twice = [...TURNS, turn(5, "user", "Remember tea", 20), turn(6, "assistant", "Known", 24)];
  const seen = live({ retrieval: "three", number: 4, answer: "Known" });
  const shown = joined(roundsOf(twice), [seen]).map((round) => round.key);
  assert.deepEqual(shown, ["turn-1", "turn-3", "live-1"]);
});

test("a call that is not kept yet keeps its round as it was seen", () => {
  const calls = roundsOf(TURNS, [retrieval("two", 11, [CALL])])[1]?.calls ?? [];
  const seen = live({ retrieval: "two", answer: "Saved", calls });
  assert.deepEqual(whole(roundsOf(TURNS, [retrieval("two", 11)]), [seen]), []);
});

test("the model hears what is in its window, and nothing that failed", () => {
  const rounds = [...roundsOf(TURNS), live({ state: "failed", asked: "Broken" })];
  assert.deepEqual(
    messagesOf(rounds, 3).map((message) => message.content),
    ["Remember tea", "Saved"],
  );
});

test("days begin where the person is, also when clocks are moved", () => {
  const session = (id: string, last_turn_at: string) => ({ id, last_turn_at }) as SessionView;
  const sessions = [
    session("tonight", "2026-10-25T22:59:00Z"),
    session("yesterday", "2026-10-24T21:30:00Z"),
    session("week", "2026-10-18T12:00:00Z"),
    session("older", "2026-10-17T12:00:00Z"),
  ];
  const ages = (zone: string) =>
    byAge(sessions, Date.parse("2026-10-25T22:59:30Z"), zone).map(({ age, sessions: [one] }) => [
      age,
      one?.id,
    ]);
  // In Berlin this day has 25 hours.
  assert.deepEqual(ages("Europe/Berlin"), [
    ["today", "tonight"],
    ["yesterday", "yesterday"],
    ["week", "week"],
    ["older", "older"],
  ]);
  // In Tokyo it is the day after already.
  assert.equal(byAge(sessions, Date.parse("2026-10-25T22:59:30Z"), "Asia/Tokyo").length, 3);
});

test("answers are paragraphs, lists and code; everything else is text", () => {
  const read = blocks(
    "# Plan\n\nOne\ntwo <b>\n\n1. first\n   more\n2. **second**\n\n```js\na < b\n",
  );
  assert.deepEqual(
    read.map((block) => block.kind),
    ["heading", "paragraph", "list", "code"],
  );
  const [, paragraph, list, code] = read;
  assert.ok(paragraph?.kind === "paragraph" && list?.kind === "list" && code?.kind === "code");
  assert.deepEqual(paragraph.lines.flat(), [
    { kind: "text", text: "One" },
    { kind: "text", text: "two <b>" },
  ]);
  assert.equal(list.items.length, 2);
  assert.deepEqual(list.items[1], [[{ kind: "strong", text: "second" }]]);
  // The answer is still coming, and its code has no end yet.
  assert.equal(code.text, "a < b\n");
});

test("a very long answer is read quickly", () => {
  const began = performance.now();
  blocks(`${"**a `b [m1] ".repeat(40_000)}\n`.repeat(3));
  assert.ok(performance.now() - began < 2_000);
});

test("a table is rows and cells, also while it is coming, and a bar alone is none", () => {
  const [table, after] = blocks("| day | train |\n|---|:-:|\n| Mon | **ICE 5** |\nTue | x\n\nSo.");
  assert.equal(table?.kind, "table");
  if (table?.kind !== "table") return;
  assert.deepEqual(table.head[1], [{ kind: "text", text: "train" }]);
  assert.deepEqual(table.rows[0]?.[1], [{ kind: "strong", text: "ICE 5" }]);
  assert.equal(table.rows.length, 2);
  assert.equal(after?.kind, "paragraph");
  assert.deepEqual(
    blocks("a | b\nis no table").map(({ kind }) => kind),
    ["paragraph"],
  );
});
