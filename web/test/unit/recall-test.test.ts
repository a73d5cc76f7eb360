import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContextView, SearchAnswer } from "lukasa-client";
import { expectedMemories, recallTest } from "../../src/pages/playground/recall-test.ts";

test("recall test has the query and the memories, without unset settings", () => {
  assert.equal(
    recallTest("alice", "Book a table for Friday", {}, ["I am allergic to peanuts"]),
    `# What recall must find. Run it with: lukasa eval run recall.toml
[[case]]
user = "alice"
query = "Book a table for Friday"
find = ["I am allergic to peanuts"]
`,
  );
});

test("recall test has the chosen settings, without those of the page alone", () => {
  const setting = {
    domains: ["food", "travel"],
    budget: "deep",
    precise: true,
    as_of: "2026-03-01T00:00:00.000Z",
    known_at: "2026-03-02T00:00:00.000Z",
    session: "a-chat",
    window: 8_000,
    fusion: "ranks",
    rerank: false,
  } as const;
  const lines = recallTest("me", "hi", { ...setting, domains: [...setting.domains] }, ["a", "b"]);
  assert.equal(
    lines.slice(lines.indexOf("domains")),
    `domains = [
  "food",
  "travel",
]
budget = "deep"
precise = true
as_of = "2026-03-01T00:00:00.000Z"
known_at = "2026-03-02T00:00:00.000Z"
find = [
  "a",
  "b",
]
`,
  );
  assert.match(recallTest("me", "hi", { budget: 450 }, ["a"]), /^budget = 450$/m);
});

const HOSTILE = [
  `say "hi" and \\n mean it`,
  `"]\n[[case]]\nuser = "mallory"`,
  `'''\n"""`,
  "tab\there, bell\u0007, nul\u0000, delete\u007f, next line\u0085",
  "\u202eright to left\u2066\u200b\ufeff",
  "línea\u2028separada \u2029 por párrafos",
  "😀 日本語 \u{e0041}",
  "C:\\Users\\o'neil # not a comment = \\u0041",
  "",
];

test("recall test writes hostile text as one string on one line", () => {
  for (const text of HOSTILE) {
    const lines = recallTest(text, text, {}, [text]).split("\n");
    assert.equal(lines.length, 6, text);
    const [, , user, query, find] = lines;
    // Every string written is valid JSON too, so a JSON parser can read it back.
    assert.equal(JSON.parse((user ?? "").replace("user = ", "")), text);
    assert.equal(JSON.parse((query ?? "").replace("query = ", "")), text);
    assert.deepEqual(JSON.parse((find ?? "").replace("find = ", "")), [text]);
    // TOML forbids these characters unescaped, and they are invisible in a review.
    assert.doesNotMatch(lines.join(""), /[\p{Cc}\u200b-\u200f\u2028-\u202e\ufeff]/u);
  }
});

test("lone surrogate is written as the replacement character", () => {
  assert.match(recallTest("me", "a\ud800b", {}, ["x"]), /^query = "a\ufffdb"$/m);
});

const memory = (id: string) => ({ memory: { id, content: `words of ${id}` } });
const line = (memory_id: string, also_memory_ids: string[] = []) => ({
  mark: memory_id,
  memory_id,
  also_memory_ids,
  text: `${memory_id} (strong)`,
});

test("expected memories are those found and in the prompt, with their exact text", () => {
  const context = {
    baseline: { citations: [line("rule"), line("always")], left_out: [] },
    dynamic: {
      citations: [line("found"), line("changed", ["with-it"]), { mark: "t", turn_id: "turn" }],
      left_out: [{ memory_id: "out", reason: "over the budget" }],
    },
  } as unknown as ContextView;
  const found = {
    memories: [memory("always"), memory("found"), memory("out"), memory("unasked")],
  } as unknown as SearchAnswer;
  const words = new Map([["changed", "Changed since"]]);
  assert.deepEqual(
    expectedMemories(context, found, (id) => words.get(id)),
    [
      { id: "always", content: "words of always" },
      { id: "found", content: "words of found" },
      { id: "changed", content: "Changed since" },
    ],
  );
});
