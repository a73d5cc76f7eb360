import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContextView, SearchAnswer } from "lukasa-client";
import { recallTest, wanted } from "../../src/pages/playground/recall-test.ts";

test("a test is what was asked and what was found, and nothing that was not set", () => {
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

test("settings that were made are in it, those of the page alone are not", () => {
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

test("whatever somebody wrote stays one string on one line, and the same", () => {
  for (const text of HOSTILE) {
    const lines = recallTest(text, text, {}, [text]).split("\n");
    assert.equal(lines.length, 6, text);
    const [, , user, query, find] = lines;
    // Every string that we write is JSON's as well; a parser of another tells whether it came through.
    assert.equal(JSON.parse((user ?? "").replace("user = ", "")), text);
    assert.equal(JSON.parse((query ?? "").replace("query = ", "")), text);
    assert.deepEqual(JSON.parse((find ?? "").replace("find = ", "")), [text]);
    // TOML forbids these raw, and nobody who reviews the file would see them.
    assert.doesNotMatch(lines.join(""), /[\p{Cc}\u200b-\u200f\u2028-\u202e\ufeff]/u);
  }
});

test("half a character, which no file can hold, is written as the sign for one", () => {
  assert.match(recallTest("me", "a\ud800b", {}, ["x"]), /^query = "a\ufffdb"$/m);
});

const memory = (id: string) => ({ memory: { id, content: `words of ${id}` } });
const line = (memory_id: string, also_memory_ids: string[] = []) => ({
  mark: memory_id,
  memory_id,
  also_memory_ids,
  text: `${memory_id} (strong)`,
});

test("wanted is what was found and stands in the prompt, in the memories' own words", () => {
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
    wanted(context, found, (id) => words.get(id)),
    [
      { id: "always", content: "words of always" },
      { id: "found", content: "words of found" },
      { id: "changed", content: "Changed since" },
    ],
  );
});
