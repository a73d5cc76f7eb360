import assert from "node:assert/strict";
import { test } from "node:test";
import { shownContent } from "../../src/data/shown-content.ts";

test("learned memory is shown without the user as its subject", () => {
  assert.equal(shownContent("User works nights as a nurse."), "Works nights as a nurse.");
  assert.equal(shownContent("The user has two cats"), "Has two cats");
  assert.equal(shownContent("User is vegetarian."), "Is vegetarian.");
  assert.equal(shownContent("User might take up rowing."), "Might take up rowing.");
  assert.equal(shownContent("User moved to Lyon"), "Moved to Lyon");
  for (const same of [
    "Lives in Lisbon",
    "I want to retire at age 50",
    "User's sister lives in Porto",
    "User interface in German",
    "Users of the app are nurses",
    "User",
  ]) {
    assert.equal(shownContent(same), same);
  }
});
