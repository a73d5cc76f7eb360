import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../src/pages/sources/prose.ts";

const STATED = { likely: false, byTemplate: true };
const LIKELY = { likely: true, byTemplate: true };

test("what several memories say becomes one sentence each, with its citation", () => {
  assert.deepEqual(
    partsOf({ text: "Lives in Lyon; has two cats.", memory_ids: ["a", "b"] }, STATED),
    [
      { text: "Lives in Lyon.", memories: ["a"] },
      { text: "Has two cats.", memories: ["b"] },
    ],
  );
  assert.deepEqual(partsOf({ text: "works nights; has a cat.", memory_ids: ["a", "b"] }, LIKELY), [
    { text: "works nights,", memories: ["a"] },
    { text: "has a cat.", memories: ["b"] },
  ]);
});

test("sentence whose parts are not its memories stays whole", () => {
  assert.deepEqual(partsOf({ text: "likes tea; not coffee.", memory_ids: ["a"] }, STATED), [
    { text: "Likes tea; not coffee.", memories: ["a"] },
  ]);
});

test("sentence of a model stays whole, because its parts may be in another order than its memories", () => {
  const sentence = { text: "lives with two cats; that is in Lyon.", memory_ids: ["a", "b"] };
  assert.deepEqual(partsOf(sentence, { likely: false, byTemplate: false }), [
    { text: "Lives with two cats; that is in Lyon.", memories: ["a", "b"] },
  ]);
});
