import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpisodeView } from "lukasa-client";
import { episodeName, hasHiddenTitle, shownTitle } from "../../src/data/hidden.ts";

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
