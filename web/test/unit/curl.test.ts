import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { command, curl } from "../../src/data/curl.ts";

const HERE = { origin: "http://h", local: true };

/** What a shell makes of it: every word that curl would be started with. */
function words(command: string): string[] {
  const told = `curl() { printf '%s\\0' "$@"; }; LUKASA_KEY=secret; ${command}`;
  return execFileSync("bash", ["-c", told], { encoding: "utf8" }).split("\0").slice(0, -1);
}

test("a shell reads the command as it was meant, whatever the message and the person", () => {
  const query = `It's "$HOME" \`id\` $(id) \\ !! ; é 日本`;
  const user = `o'neil"; $(id) \``;
  assert.deepEqual(words(command("/x", { query }, { ...HERE, user })), [
    "http://h/x",
    "-H",
    `X-Lukasa-User: ${user}`,
    "-H",
    "content-type: application/json",
    "-d",
    JSON.stringify({ query }),
  ]);
});

test("where a key is asked for it stands in by its name, and the person is named", () => {
  const told = command("/x", {}, { origin: "http://h", user: "me" });
  assert.match(told, /Bearer \$LUKASA_KEY"/);
  const said = words(told);
  assert.ok(said.includes("Authorization: Bearer secret"));
  assert.ok(said.includes("X-Lukasa-User: me"));
});

test("on one person's machine neither is needed, and without a body it only reads", () => {
  assert.deepEqual(words(command("/x", undefined, { ...HERE, user: "me" })), ["http://h/x"]);
  assert.deepEqual(words(command("/x", undefined, { origin: "http://h", key: "lk_live_1" })), [
    "http://h/x",
    "-H",
    "Authorization: Bearer lk_live_1",
  ]);
});

test("who came by a link is shown none", () => {
  assert.equal(curl("/x", "{}", { origin: "http://h", admin: false }), undefined);
  assert.ok(curl("/x", "{}", { ...HERE, admin: false }));
  assert.deepEqual(
    words(curl("/x", `{"a": "it's"}`, { ...HERE, admin: true }) ?? "").at(-1),
    `{"a": "it's"}`,
  );
});
