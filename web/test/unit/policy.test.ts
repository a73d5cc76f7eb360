import assert from "node:assert/strict";
import { test } from "node:test";
import { takenBack } from "../../src/data/policy-change.ts";

test("undo of a policy change takes back only what it wrote", () => {
  const before = { extract: "auto", paused: true };
  const written = { extract: "manual", paused: true, titles: false };
  assert.deepEqual(takenBack(before, written, written), before);
  const domains = { health: "off", food: "auto" };
  const sorted = { domains: { food: "auto", health: "off" } };
  assert.deepEqual(takenBack({}, { domains }, sorted), {});
  const since = { ...written, paused: false, keep_turns: "none" };
  assert.deepEqual(takenBack(before, written, since), {
    extract: "auto",
    paused: false,
    keep_turns: "none",
  });
});

test("undo of a removed setting sets it again", () => {
  assert.deepEqual(takenBack({ paused: true }, {}, { titles: false }), {
    paused: true,
    titles: false,
  });
});

test("undo of a policy change that was changed again changes nothing", () => {
  assert.equal(takenBack({}, { extract: "manual" }, {}), undefined);
  assert.equal(takenBack({}, { paused: true }, { paused: false }), undefined);
  const domains = { health: "off" };
  assert.equal(takenBack({}, { domains }, { domains: { ...domains, food: "auto" } }), undefined);
});
