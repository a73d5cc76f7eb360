import assert from "node:assert/strict";
import { test } from "node:test";
import { adviceFor, titleOf } from "../../src/base/problem-titles.ts";
import { speak } from "../../src/i18n/index.ts";

Object.assign(globalThis, { document: { documentElement: { lang: "", dir: "" } } });

/** An error of the server. */
const problem = (code: string, ...errors: string[]) => ({
  code,
  status: 422,
  title: "A title",
  detail: "An advice",
  errors: errors.map((detail) => ({ detail })),
});

async function inGerman(work: () => void): Promise<void> {
  await speak("de");
  try {
    work();
  } finally {
    await speak("en");
  }
}

test("problem is shown by its code and not in the server's words, in both languages", async () => {
  assert.equal(titleOf(problem("wrong_user")), "You are signed in as another user");
  assert.equal(adviceFor(problem("wrong_user")), "");
  await inGerman(() => {
    assert.match(titleOf(problem("undo_blocked")), /^Diese Erinnerung wurde danach/);
  });
});

test("problem without a text has a general one, and the server's words apart from it", async () => {
  assert.equal(titleOf(problem("new_code")), "The server did not accept this");
  assert.equal(titleOf({ ...problem("new_code"), status: 500 }), "Something went wrong");
  assert.equal(adviceFor(problem("new_code")), "An advice");
  assert.equal(adviceFor({ ...problem("new_code"), detail: "" }), "A title");
  await inGerman(() => {
    assert.equal(titleOf(problem("new_code")), "Der Server hat das nicht angenommen.");
    assert.equal(adviceFor(problem("new_code")), "An advice");
  });
});

test("errors of fields, which are in English, are in no German sentence", async () => {
  const wrong = problem("invalid_request", "must not be empty");
  assert.equal(titleOf(wrong), "This entry is not valid: must not be empty");
  assert.equal(adviceFor(wrong), "");
  await inGerman(() => {
    assert.equal(titleOf(wrong), "Diese Eingabe ist nicht gültig.");
    assert.equal(adviceFor(wrong), "must not be empty");
  });
});
