import assert from "node:assert/strict";
import { test } from "node:test";
import { countAnswers } from "../../src/data/answer-uses.ts";

const record = (memory_id: string, type: string, turn_id?: string) => ({
  memory_id,
  type,
  turn_id,
  at: "2026-03-01T00:00:00Z",
});

test("each answer that applied, cited or confirmed a memory counts once", () => {
  const counts = countAnswers([
    record("a", "applied", "t1"),
    record("a", "cited", "t1"),
    record("a", "confirmed", "t2"),
  ]);
  assert.deepEqual([...counts], [["a", 2]]);
});

test("records of other types, and those without an answer, are not counted", () => {
  const others = ["retrieved", "conflicted", "overridden", "contradicted", "predicted", "rated_up"];
  assert.equal(countAnswers(others.map((type) => record("a", type, "t1"))).size, 0);
  assert.equal(countAnswers([record("a", "applied")]).size, 0);
});
