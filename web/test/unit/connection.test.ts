import assert from "node:assert/strict";
import { test } from "node:test";
import { latestCall } from "../../src/features/connect/latest-call.ts";

const wrote = (at: string, caller: string, origin: string, credential = "local") => ({
  at,
  caller,
  origin,
  credential,
});
const key = (id: string, last_used_at: string | null, permissions = ["read"], user?: string) => ({
  id,
  name: `key ${id}`,
  user,
  permissions,
  last_used_at,
});

test("an assistant is connected once it has written", () => {
  assert.equal(latestCall([], [], "ann"), undefined);
  assert.equal(latestCall([wrote("2026-11-01T10:00:00Z", "human", "user")], [], "ann"), undefined);
  assert.equal(
    latestCall([wrote("2026-11-01T10:00:00Z", "job", "assistant")], [], "ann"),
    undefined,
  );
  assert.deepEqual(latestCall([wrote("2026-11-01T10:00:00Z", "key", "assistant")], [], "ann"), {
    at: "2026-11-01T10:00:00Z",
    key: undefined,
  });
});

test("the last use of a key counts too, except of admin keys and of other users", () => {
  const keys = [
    key("1", "2026-11-01T11:00:00Z"),
    key("2", "2026-11-01T12:00:00Z", ["admin"]),
    key("3", "2026-11-01T13:00:00Z", ["read"], "bob"),
    key("4", null),
  ];
  const operations = [wrote("2026-11-01T10:00:00Z", "key", "assistant", "4")];
  assert.equal(latestCall(operations, keys, "ann")?.key, "key 1");
  assert.equal(latestCall(operations, keys, "bob")?.key, "key 3");
  assert.equal(latestCall(operations, keys.slice(3), "ann")?.key, "key 4");
});
