import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { collector } from "../../src/base/collector.ts";

test("first item is handled at once, those that arrive meanwhile together", async () => {
  const steps: number[][] = [];
  const add = collector<number>(async (items) => {
    steps.push(items);
    await sleep(5);
    // A step that fails does not stop the next ones.
    throw new Error("refused");
  }, 10);
  add(1);
  assert.deepEqual(steps, [[1]]);
  for (let item = 2; item < 1_000; item++) add(item);
  await sleep(60);
  assert.deepEqual(
    steps.map((items) => items.length),
    [1, 998],
  );
  add(1_000);
  assert.deepEqual(steps.at(-1), [1_000]);
});
