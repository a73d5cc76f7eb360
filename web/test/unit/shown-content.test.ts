import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { shownContent } from "../../src/data/shown-content.ts";

const learned = (content: string) =>
  shownContent({ content, origin: "user_turn", confidence: 0.8 });

test("learned memory is shown without the user as its subject", () => {
  for (const [content, shown] of [
    ["User works nights as a nurse.", "Works nights as a nurse."],
    ["The user has two cats", "Has two cats"],
    ["User is vegetarian.", "Is vegetarian."],
    ["User might take up rowing.", "Might take up rowing."],
    ["User must have a visa", "Must have a visa"],
    ["User moved to Lyon", "Moved to Lyon"],
    ["User does not have a car", "Does not have a car"],
    ["User did not like Porto", "Did not like Porto"],
    ["User wants to have a dog", "Wants to have a dog"],
    ["User lives in Lyon and is a nurse", "Lives in Lyon and is a nurse"],
    ["User works from home in May", "Works from home in May"],
  ] as const) {
    assert.equal(learned(content), shown);
  }
});

test("other words about users stay as they are", () => {
  for (const same of [
    "Lives in Lisbon",
    "I want to retire at age 50",
    "User's sister lives in Porto",
    "User interface in German",
    "User stories must have acceptance criteria",
    "User stories of the app must have acceptance criteria",
    "User interfaces should be dark",
    "User accounts need 2FA",
    "User generated content is reviewed",
    "Users of the app are nurses",
    "User",
  ]) {
    assert.equal(learned(same), same);
  }
});

test("what the user, an assistant or an import said is not changed", () => {
  const content = "User works nights";
  assert.equal(shownContent({ content, origin: "user_said", confidence: null }), content);
  assert.equal(shownContent({ content, origin: "assistant" }), content);
  assert.equal(shownContent({ content, origin: "import", confidence: 0.8 }), content);
});

/** Files with the stored words of a memory: forms, diffs, the history, comparisons, and tools that show prompts. */
const STORED = [
  "data/memory-writes.ts",
  "data/proposals.ts",
  "data/related.ts",
  "data/shown-content.ts",
  "data/similar.ts",
  "features/detail/index.tsx",
  "features/memory/changed-form.tsx",
  "features/memory/edit-form.tsx",
  "features/memory/history.tsx",
  "features/memory/proposals.tsx",
  "features/sources/why.tsx",
  "pages/chat/calls.tsx",
  "pages/chat/memory-line.tsx",
  "pages/memory/row-edit.tsx",
  "pages/playground/lines.tsx",
  "pages/playground/recall-test.ts",
  "pages/playground/requests.ts",
  "pages/review/card.tsx",
  "pages/review/summary.tsx",
];

test("memories are shown for reading with these words everywhere", () => {
  const src = new URL("../../src/", import.meta.url).pathname;
  const stored =
    /\b(?:memory|memory\.data|item\.memory|against|other|before|after|to)\??\.content\b/;
  const found = globSync(`${src}**/*.ts*`)
    .filter((file) => stored.test(readFileSync(file, "utf8")))
    .map((file) => file.slice(src.length));
  assert.deepEqual(
    found.sort().filter((file) => !STORED.includes(file)),
    [],
  );
});
