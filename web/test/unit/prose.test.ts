import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../src/pages/sources/prose.ts";

test("what several memories say becomes one sentence each, with its citation", () => {
  assert.deepEqual(
    partsOf({ text: "Lives in Lyon; has two cats.", memory_ids: ["a", "b"] }, false),
    [
      { text: "Lives in Lyon.", memories: ["a"] },
      { text: "Has two cats.", memories: ["b"] },
    ],
  );
  assert.deepEqual(partsOf({ text: "works nights; has a cat.", memory_ids: ["a", "b"] }, true), [
    { text: "works nights,", memories: ["a"] },
    { text: "has a cat.", memories: ["b"] },
  ]);
});

test("sentence whose parts are not its memories stays whole", () => {
  assert.deepEqual(partsOf({ text: "likes tea; not coffee.", memory_ids: ["a"] }, false), [
    { text: "Likes tea; not coffee.", memories: ["a"] },
  ]);
});
