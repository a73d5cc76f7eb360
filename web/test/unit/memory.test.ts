import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView, OperationView } from "lukasa-client";
import { stepsOf } from "../../src/data/steps.ts";
import { Marks } from "../../src/pages/memory/marks.ts";
import { memorySearch } from "../../src/pages/memory/search.ts";

test("the focus goes along the rows, and stays at its place when its row goes", () => {
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

test("a row that was sent away is not sent away again by a quick hand", () => {
  const marks = new Marks();
  marks.follow(["a", "b", "c"], false);
  marks.go("b");
  assert.equal(marks.leave("b"), true);
  assert.equal(marks.current, "c");
  assert.equal(marks.leave("b"), false);
  assert.equal(marks.leave("c"), true);
  assert.equal(marks.current, "a");
  // It was refused, and is there again.
  marks.follow(["a", "b"], false);
  assert.equal(marks.leave("b"), true);
});

test("what is no longer shown is no longer selected", () => {
  const marks = new Marks();
  marks.follow(["a", "b"], false);
  marks.select(["a", "b"]);
  marks.follow(["b"], false);
  assert.deepEqual([...marks.selected], ["b"]);
});

test("an address that says nonsense says nothing", () => {
  assert.deepEqual(memorySearch({ view: "list", as_of: "never", how: "magic", text: 12 }), {
    text: "12",
  });
  assert.deepEqual(memorySearch({ view: "board", known_at: "2026-03-03", domain: "" }), {
    view: "board",
    known_at: "2026-03-03",
  });
});

test("each step has the words before and after it, the latest first", () => {
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
