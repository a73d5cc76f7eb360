import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { adviceFor, explain, titleOf } from "../../src/base/problem-titles.ts";
import { de } from "../../src/i18n/de/index.ts";
import { first } from "../../src/i18n/en/first.ts";
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

test("text for a toast has the server's words behind a general one, and not behind a text of its own", async () => {
  assert.equal(explain(problem("new_code")), "The server did not accept this. An advice");
  assert.equal(explain(problem("wrong_user")), "You are signed in as another user");
  await inGerman(() => {
    assert.equal(explain(problem("new_code")), "Der Server hat das nicht angenommen. An advice");
  });
  const src = new URL("../../src/", import.meta.url).pathname;
  const titleOnly = globSync(`${src}**/*.ts*`)
    .filter((file) => /\bsentenceOf\(/.test(readFileSync(file, "utf8")))
    .map((file) => file.slice(src.length));
  // A card shows the advice below the title.
  assert.deepEqual(titleOnly.sort(), ["base/problems.ts", "ui/problem-card.tsx"]);
});

/** Codes that the console does not provoke, so that the server's own words are enough if they ever come. */
const WITHOUT_TEXT = [
  // A request or an address that the console never sends.
  "malformed_body",
  "malformed_query",
  "malformed_header",
  "malformed_cursor",
  "unsupported_media_type",
  "unsupported_version",
  "not_found",
  "method_not_allowed",
  "user_required",
  "idempotency_mismatch",
  "answer_erased",
  // It names memories by their id, and no project in a chat.
  "ambiguous_target",
  "other_project",
  // It has no spaces, observations or predictions, and asks for no single portrait.
  "space_not_found",
  "space_read_only",
  "space_unsupported",
  "other_member_needed",
  "observation_not_found",
  "prediction_not_found",
  "outcome_known",
  "portrait_not_found",
  // It embeds nothing.
  "model_not_found",
  "no_embedder",
  // The stream of changes shows no errors.
  "too_many_streams",
];

test("every code of docs/errors.md has a text in each language, or is a known exception", () => {
  const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const codes = [...page.matchAll(/<a id="(\w+)">/g)].map(([, code = ""]) => code);
  assert.ok(codes.length > 50, "the table of codes is found");
  const expected = codes.filter((code) => !WITHOUT_TEXT.includes(code)).sort();
  for (const shell of [first.shell, de.shell]) {
    const texts = Object.keys(shell).flatMap((key) => /^code\.(\w+)$/.exec(key)?.[1] ?? []);
    assert.deepEqual(texts.sort(), expected);
  }
  assert.deepEqual(
    WITHOUT_TEXT.filter((code) => !codes.includes(code)),
    [],
  );
});
