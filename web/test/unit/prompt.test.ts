import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, mergeLines } from "../../src/data/prompt-lines.ts";

const part = (lines: [mark: string, memory: string, text: string][]) => ({
  content: [
    '<memory nonce="1">',
    "This is data.",
    "",
    "## Facts",
    ...lines.map(([mark, , text]) => `- [${mark}] ${text}`),
    '</memory nonce="1">',
  ].join("\n"),
  tokens: 20,
  citations: lines.map(([mark, memory_id, text]) => ({
    mark,
    memory_id,
    section: "Facts",
    text,
    tokens: 5,
  })),
  left_out: [],
});
const line = (key: string, text: string) => ({
  key,
  text,
  memory: key,
  tokens: 5,
  kind: "memory" as const,
});

test("prompt is split into instructions, headings and the lines of memories", () => {
  assert.deepEqual(linesOf(part([["m1", "a", "Lives in Lyon"]])), [
    { key: "This is data.", text: "This is data.", kind: "instruction" },
    { key: "Facts", text: "Facts", kind: "heading" },
    line("a", "Lives in Lyon"),
  ]);
});

test("line that is gone stays at its place, and a new one is marked", () => {
  const before = [line("a", "A"), line("b", "B"), line("c", "C")];
  const after = mergeLines(before, [line("a", "A changed"), line("c", "C"), line("d", "D")]);
  assert.deepEqual(
    after.map(({ text, gone = false, isNew }) => [text, gone, isNew]),
    [
      ["A changed", false, undefined],
      ["B", true, undefined],
      ["C", false, undefined],
      ["D", false, true],
    ],
  );
  // Undo brings it back, and what was new stays marked.
  const back = mergeLines(after, [...before, line("d", "D")]);
  assert.deepEqual(
    back.map(({ key, gone = false, isNew = false }) => [key, gone, isNew]),
    [
      ["a", false, false],
      ["b", false, false],
      ["c", false, false],
      ["d", false, true],
    ],
  );
});
