import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { EpisodeView, TurnView } from "lukasa-client";
import { episodeName, hasHiddenTitle, shownTitle, turnText } from "../../src/data/hidden.ts";

const PLACEHOLDER = "[hidden: the domain health is not open]";

test("hidden chat title is recognized by the placeholder of its domain alone", () => {
  assert.ok(hasHiddenTitle({ title: PLACEHOLDER, hidden_domain: "health" }));
  // Only the summary is hidden, or a user wrote these words.
  assert.ok(!hasHiddenTitle({ title: "Dinner", hidden_domain: "health" }));
  assert.ok(!hasHiddenTitle({ title: PLACEHOLDER, hidden_domain: undefined }));
  assert.ok(!hasHiddenTitle({ title: undefined, hidden_domain: undefined }));
});

test("hidden title and summary name their area in the language of the console", () => {
  const hidden_domain = "health";
  assert.equal(shownTitle({ title: PLACEHOLDER, hidden_domain }), "Hidden title (Health)");
  assert.equal(shownTitle({ title: "Dinner", hidden_domain }), "Dinner");
  assert.equal(shownTitle({ title: "", hidden_domain: undefined }), undefined);
  const episode = { title: PLACEHOLDER, summary: PLACEHOLDER, hidden_domain } as EpisodeView;
  assert.equal(episodeName(episode), "Hidden: it is about Health, which is off.");
  assert.equal(episodeName({ ...episode, hidden_domain: null, title: "" }), PLACEHOLDER);
});

test("hidden turn names its area in place of the server's placeholder", () => {
  const turn = { content: PLACEHOLDER, hidden_domain: "health" } as TurnView;
  assert.equal(turnText(turn), "Hidden: it is about Health, which is off.");
  assert.equal(turnText({ ...turn, content: "Dinner", hidden_domain: null }), "Dinner");
});

/** Files that read the text of a turn itself: they ask for hidden turns, or check that it is not hidden. */
const READ_TURNS = ["data/hidden.ts", "features/chat/rounds.ts", "pages/chat/conversation.ts"];

test("hidden turn: pages show the text of turns by turnText alone", () => {
  const root = new URL("../../src/", import.meta.url);
  const wrong = globSync("{data,features,pages}/**/*.{ts,tsx}", { cwd: root.pathname }).filter(
    (file) =>
      !READ_TURNS.includes(file) &&
      !file.startsWith("data/archive/") &&
      /\b(?:turn|best)\.content\b/.test(readFileSync(new URL(file, root), "utf8")),
  );
  assert.deepEqual(wrong, []);
});
