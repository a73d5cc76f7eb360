import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { command, curl } from "../../src/data/curl.ts";

const HERE = { origin: "http://h", local: true };

/** The arguments that a shell would pass to curl. */
function words(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; LUKASA_KEY=secret; ${command}`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

test("curl command quotes hostile messages and user ids for a shell", () => {
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

test("curl command uses the key variable and names the user", () => {
  const made = command("/x", {}, { origin: "http://h", user: "me" });
  assert.match(made, /Bearer \$LUKASA_KEY"/);
  const args = words(made);
  assert.ok(args.includes("Authorization: Bearer secret"));
  assert.ok(args.includes("X-Lukasa-User: me"));
});

test("curl command needs neither key nor user in local mode, and is a GET without a body", () => {
  assert.deepEqual(words(command("/x", undefined, { ...HERE, user: "me" })), ["http://h/x"]);
  assert.deepEqual(words(command("/x", undefined, { origin: "http://h", key: "lk_live_1" })), [
    "http://h/x",
    "-H",
    "Authorization: Bearer lk_live_1",
  ]);
});

test("curl command is absent for users signed in by link", () => {
  assert.equal(curl("/x", "{}", { origin: "http://h", admin: false }), undefined);
  assert.ok(curl("/x", "{}", { ...HERE, admin: false }));
  assert.deepEqual(
    words(curl("/x", `{"a": "it's"}`, { ...HERE, admin: true }) ?? "").at(-1),
    `{"a": "it's"}`,
  );
});
