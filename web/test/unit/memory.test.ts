import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView, OperationView } from "lukasa-client";
import { stepsOf } from "../../src/data/steps.ts";
import { Marks } from "../../src/pages/memory/marks.ts";
import { currentStatuses, isFiltered, parseMemoryParams } from "../../src/pages/memory/params.ts";

test("focus moves along the rows, and keeps its place when its row is removed", () => {
  const marks = new Marks();
  marks.follow(["a", "b", "c", "d"], false);
  assert.equal(marks.current, "a");
  marks.move(2);
  assert.equal(marks.current, "c");
  marks.follow(["a", "b", "d"], true);
  assert.equal(marks.current, "d");
  assert.equal(marks.wanted, "d");
  marks.follow(["a"], true);
  assert.equal(marks.current, "a");
  marks.move(-5);
  assert.equal(marks.current, "a");
});

test("row that is being removed cannot be removed twice", () => {
  const marks = new Marks();
  marks.follow(["a", "b", "c"], false);
  marks.go("b");
  assert.equal(marks.leave("b"), true);
  assert.equal(marks.current, "c");
  assert.equal(marks.leave("b"), false);
  assert.equal(marks.leave("c"), true);
  assert.equal(marks.current, "a");
  // The removal was refused, and the row is listed again.
  marks.follow(["a", "b"], false);
  assert.equal(marks.leave("b"), true);
});

test("selection drops rows that are no longer shown", () => {
  const marks = new Marks();
  marks.follow(["a", "b"], false);
  marks.select(["a", "b"]);
  marks.follow(["b"], false);
  assert.deepEqual([...marks.selected], ["b"]);
});

test("invalid search parameters are ignored", () => {
  assert.deepEqual(parseMemoryParams({ view: "list", as_of: "never", how: "magic", text: 12 }), {
    text: "12",
  });
  assert.deepEqual(parseMemoryParams({ view: "board", known_at: "2026-03-03", domain: "" }), {
    view: "board",
    known_at: "2026-03-03",
  });
});

test("history steps have the text before and after, the latest first", () => {
  const operation = (id: string, at: string) => ({ id, at, verb: id }) as OperationView;
  const version = (content: string, known_from: string, valid_from: string) =>
    ({ content, known_from, valid_from }) as MemoryView;
  // The change ended one row and began another in the same instant.
  const steps = stepsOf(
    [operation("change", "2"), operation("link", "3"), operation("save", "1")],
    [version("50", "1", "1"), version("55", "2", "2"), version("50", "2", "1")],
  );
  assert.deepEqual(
    steps.map((step) => [step.operation.id, step.before?.content, step.after?.content]),
    [
      ["link", "55", undefined],
      ["change", "50", "55"],
      ["save", undefined, "50"],
    ],
  );
});

test("range of selected rows starts where it was begun, in either direction", () => {
  const marks = new Marks();
  marks.follow(["a", "b", "c", "d", "e"], false);
  marks.toggle("b");
  // A click focuses its row first.
  marks.go("d", false);
  marks.extend("d");
  assert.deepEqual([...marks.selected], ["b", "c", "d"]);
  marks.extend("a");
  assert.deepEqual([...marks.selected].sort(), ["a", "b", "c", "d"]);
  marks.select([]);
  marks.go("c");
  marks.move(1, true);
  marks.move(1, true);
  assert.deepEqual([...marks.selected], ["c", "d", "e"]);
  assert.equal(marks.current, "e");
});

test("certainty filter finds guesses that wait for an answer, whose status is their own", () => {
  assert.deepEqual(currentStatuses({}), ["active"]);
  assert.deepEqual(currentStatuses({ tier: "tentative" }), ["active"]);
  assert.deepEqual(currentStatuses({ tier: "candidate" }), ["active", "candidate"]);
  assert.deepEqual(currentStatuses({ tier: "candidate", status: "expired" }), ["expired"]);
});

test("project is a filter, so that an empty result says so", () => {
  assert.ok(isFiltered({ project: "atlas" }, true));
  assert.ok(isFiltered({ status: "expired" }, true));
  assert.ok(!isFiltered({ status: "forgotten" }, false));
  assert.ok(!isFiltered({ group: "category", force: "hard" }, true));
});
