import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import { isStruck, linesOf, mergeLines, sectionsOf } from "../../src/data/prompt-lines.ts";

const part = (lines: [mark: string, memory: string, text: string, ...also: string[]][]) => ({
  content: [
    '<memory nonce="1">',
    "This is data.",
    "",
    "## Facts",
    ...lines.map(([mark, , text]) => `- [${mark}] ${text}`),
    '</memory nonce="1">',
  ].join("\n"),
  tokens: 20,
  citations: lines.map(([mark, memory_id, text, ...also_memory_ids]) => ({
    mark,
    memory_id,
    also_memory_ids,
    section: "Facts",
    text,
    tokens: 5,
  })),
  left_out: [],
});
/** A line of memories; their ids are the words of its key. */
const line = (key: string, text: string) => ({
  key,
  text,
  memories: key.split(" "),
  tokens: 5,
  kind: "memory" as const,
});

test("prompt is split into instructions, headings and the lines of memories", () => {
  assert.deepEqual(linesOf(part([["m1", "a", "Lives in Lyon"]])), [
    { key: "This is data.", text: "This is data.", memories: [], kind: "instruction" },
    { key: "Facts", text: "Facts", memories: [], kind: "heading" },
    line("a", "Lives in Lyon"),
  ]);
});

test("line that is gone stays at its place, and a new one is marked", () => {
  const before = [line("a", "A"), line("b", "B"), line("c", "C")];
  const after = mergeLines(before, [line("a", "A changed"), line("c", "C"), line("d", "D")]);
  assert.deepEqual(
    after.map(({ text, gone = false, isNew }) => [text, gone, isNew]),
    [
      ["A changed", false, false],
      ["B", true, undefined],
      ["C", false, false],
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

test("line of several memories has all of them, and is another line without one of them", () => {
  const before = linesOf(part([["m1", "a", "Lives in Lyon; has two cats", "b"]]));
  assert.deepEqual(before.at(-1), line("a b", "Lives in Lyon; has two cats"));
  // One is forgotten: the line is struck, and the other memory has its own line, which is not new.
  const split = mergeLines(before, linesOf(part([["m1", "a", "Lives in Lyon"]])));
  assert.deepEqual(
    split
      .filter((one) => one.kind === "memory")
      .map(({ key, gone = false, isNew }) => [key, gone, isNew]),
    [
      ["a b", true, undefined],
      ["a", false, false],
    ],
  );
  // Undo combines them again: the line of the one is not struck.
  const back = mergeLines(split, before).filter((one) => one.kind === "memory");
  assert.deepEqual(
    back.map(({ key, gone = false, isNew }) => [key, gone, isNew]),
    [["a b", false, false]],
  );
});

test("line is struck when it is gone, or when any of its memories is not active", () => {
  const byId = (statuses: Record<string, string>) =>
    new Map(Object.entries(statuses).map(([id, status]) => [id, { id, status } as MemoryView]));
  const both = line("a b", "A; b");
  assert.equal(isStruck(both, byId({ a: "active", b: "active" })), false);
  assert.equal(isStruck(both, byId({ a: "active", b: "forgotten" })), true);
  assert.equal(isStruck(both, byId({ a: "trashed", b: "active" })), true);
  // Its domain was closed, for example: the memories are active, and not in the prompt.
  assert.equal(isStruck({ ...both, gone: true }, byId({ a: "active", b: "active" })), true);
  assert.equal(isStruck(both, byId({})), false);
});

test("lines are grouped by heading, and a heading without lines is left out", () => {
  const heading = (text: string) => ({ key: text, text, memories: [], kind: "heading" as const });
  const [facts, rules] = [heading("Facts"), heading("Rules")];
  const [a, b] = [line("a", "A"), line("b", "B")];
  assert.deepEqual(sectionsOf([a, facts, b, rules]), [
    { lines: [a] },
    { heading: facts, lines: [b] },
  ]);
});
