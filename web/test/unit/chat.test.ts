import assert from "node:assert/strict";
import { test } from "node:test";
import type { RetrievalView, SessionView, TurnView } from "lukasa-client";
import { groupByAge } from "../../src/data/recency.ts";
import { aboutMemory } from "../../src/features/chat/about.ts";
import {
  fullyStored,
  joined,
  messagesOf,
  type Round,
  roundsOf,
} from "../../src/features/chat/rounds.ts";
import { blocks, numberCited } from "../../src/pages/chat/markdown.ts";

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

test("rounds are matched with retrievals by time", () => {
  // The latest belongs to a question whose answer was never stored.
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

test("live round is shown once, whichever part of it is stored first", () => {
  const seen = live({ retrieval: "two", answer: "Saved", calls: roundsOf(TURNS)[0]?.calls ?? [] });
  const keys = (stored: Round[]) => joined(stored, [seen]).map((round) => round.key);
  assert.deepEqual(keys(roundsOf(TURNS.slice(0, 2))), ["turn-1", "live-1"]);
  // The turns are read before the retrieval.
  assert.deepEqual(keys(roundsOf(TURNS)), ["turn-1", "live-1"]);
  assert.deepEqual(fullyStored(roundsOf(TURNS), [seen]), []);
  const all = roundsOf(TURNS, [retrieval("two", 11)]);
  assert.deepEqual(keys(all), ["turn-1", "live-1"]);
  assert.equal(joined(all, [seen])[1]?.turn, 4);
  assert.deepEqual(fullyStored(all, [seen]), [seen]);
});

test("repeated message is another round", () => {
  const twice = [...TURNS, turn(5, "user", "Remember tea", 20), turn(6, "assistant", "Known", 24)];
  const seen = live({ retrieval: "three", number: 4, answer: "Known" });
  const shown = joined(roundsOf(twice), [seen]).map((round) => round.key);
  assert.deepEqual(shown, ["turn-1", "turn-3", "live-1"]);
});

test("live round stays while one of its calls is not stored yet", () => {
  const calls = roundsOf(TURNS, [retrieval("two", 11, [CALL])])[1]?.calls ?? [];
  const seen = live({ retrieval: "two", answer: "Saved", calls });
  assert.deepEqual(fullyStored(roundsOf(TURNS, [retrieval("two", 11)]), [seen]), []);
});

test("messages for the model: only those in its window, without failed rounds", () => {
  const rounds = [...roundsOf(TURNS), live({ state: "failed", asked: "Broken" })];
  assert.deepEqual(
    messagesOf(rounds, 3).map((message) => message.content),
    ["Remember tea", "Saved"],
  );
});

test("chat groups use days of the user's time zone, also across clock changes", () => {
  const session = (id: string, last_turn_at: string) => ({ id, last_turn_at }) as SessionView;
  const sessions = [
    session("tonight", "2026-10-25T22:59:00Z"),
    session("yesterday", "2026-10-24T21:30:00Z"),
    session("week", "2026-10-18T12:00:00Z"),
    session("older", "2026-10-17T12:00:00Z"),
  ];
  const ages = (zone: string) =>
    groupByAge(sessions, Date.parse("2026-10-25T22:59:30Z"), zone).map(
      ({ age, sessions: [one] }) => [age, one?.id],
    );
  // In Berlin this day has 25 hours.
  assert.deepEqual(ages("Europe/Berlin"), [
    ["today", "tonight"],
    ["yesterday", "yesterday"],
    ["week", "week"],
    ["older", "older"],
  ]);
  // In Tokyo it is already the next day.
  assert.equal(groupByAge(sessions, Date.parse("2026-10-25T22:59:30Z"), "Asia/Tokyo").length, 3);
});

test("archived chats are a group of their own, after all others", () => {
  const chat = (id: string, state: string, hour: number) =>
    ({
      id,
      state,
      last_turn_at: new Date(Date.UTC(2026, 9, 25, hour)).toISOString(),
    }) as SessionView;
  const chats = [chat("old", "archived", 1), chat("open", "active", 2), chat("new", "archived", 3)];
  const groups = groupByAge(chats, Date.parse("2026-10-25T12:00:00Z"), "UTC");
  assert.deepEqual(
    groups.map(({ age, sessions }) => [age, ...sessions.map((one) => one.id)]),
    [
      ["today", "open"],
      ["archived", "new", "old"],
    ],
  );
});

test("markdown: paragraphs, lists and code; everything else is text", () => {
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
  // The answer is still streaming, and its code block is not closed yet.
  assert.equal(code.text, "a < b\n");
});

test("markdown: very long answer is parsed quickly", () => {
  const began = performance.now();
  blocks(`${"**a `b [m1] ".repeat(40_000)}\n`.repeat(3));
  assert.ok(performance.now() - began < 2_000);
});

test("markdown: tables, also incomplete ones; a bar alone is not a table", () => {
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

test("memory that a chat is about is sent with its area, the rule and its dates", () => {
  const { role, content } = aboutMemory({
    id: "mem_1",
    content: "Never suggest dishes with peanuts",
    detail: null,
    domain: "food",
    force: "hard",
    key: "diet.peanuts",
    value: "never",
    valid_from: "2026-01-01T00:00:00Z",
    valid_until: null,
  });
  assert.equal(role, "system");
  assert.match(content, /Its id is mem_1\./);
  assert.deepEqual(JSON.parse(content.split("\n")[2] ?? ""), {
    content: "Never suggest dishes with peanuts",
    domain: "food",
    rule: true,
    key: "diet.peanuts",
    value: "never",
    valid_from: "2026-01-01T00:00:00Z",
  });
});

test("cited memories are numbered in the order of the answer, the same by mark and by id", () => {
  const [one, two] = ["a", "b"].map((letter) => `mem_${letter.repeat(26)}`);
  const text = `You live in Lyon [m2].\n\n- Cats (${one})\n- Lyon (${two})\n\n| a |\n| - |\n| ${one} |`;
  const numbers = numberCited(blocks(text), { m2: two ?? "" });
  assert.deepEqual(
    [...numbers],
    [
      [two, 1],
      [one, 2],
    ],
  );
});
