import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpening, openingOf } from "../../src/pages/memory/opening.ts";

test("example with an ellipsis is filled in without it, and cannot be saved unfinished", () => {
  assert.equal(openingOf("I live in …"), "I live in ");
  assert.equal(openingOf("I'm vegetarian"), "I'm vegetarian");
  for (const text of ["I live in ", "I live in", " I live in  ", "I live in …"]) {
    assert.ok(isOpening("I live in …", text), text);
  }
  assert.ok(!isOpening("I live in …", "I live in Lyon"));
  assert.ok(!isOpening("I'm vegetarian", "I'm vegetarian"));
});
