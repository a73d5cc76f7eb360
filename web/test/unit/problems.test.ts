import assert from "node:assert/strict";
import { test } from "node:test";
import { titleOf } from "../../src/base/problem-titles.ts";
import { speak } from "../../src/i18n/index.ts";

Object.assign(globalThis, { document: { documentElement: { lang: "", dir: "" } } });

test("problem of the server is shown in German by its code, with its next step", async () => {
  const title = "A later operation touched the same memory";
  assert.equal(titleOf({ code: "undo_blocked", title }), title);
  await speak("de");
  try {
    assert.match(titleOf({ code: "undo_blocked", title }), /^Diese Erinnerung wurde danach/);
    // A problem of a newer server stays as it is.
    assert.equal(titleOf({ code: "new_code", title: "A new problem" }), "A new problem");
  } finally {
    await speak("en");
  }
});
