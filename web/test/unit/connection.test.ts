import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView, OperationView } from "lukasa-client";
import { latestOf, latestUse, latestWrite } from "../../src/features/connect/latest-call.ts";

const byAgent = { session_id: "agent-1" } as MemoryView;
const NONE = { signIns: new Set<string>(), byId: new Map([["mem_1", byAgent]]) };
const wrote = (at: string, caller: string, origin: string, credential = "local") =>
  ({ at, caller, origin, credential, memory_ids: ["mem_1"] }) as OperationView;
const key = (id: string, last_used_at: string | null, permissions = ["read"], user?: string) => ({
  id,
  name: `key ${id}`,
  user,
  permissions,
  last_used_at,
});

test("an assistant is connected once it has written", () => {
  const latest = (...operations: OperationView[]) => latestWrite(operations, [], NONE);
  assert.equal(latest(), undefined);
  assert.equal(latest(wrote("2026-11-01T10:00:00Z", "human", "user")), undefined);
  assert.equal(latest(wrote("2026-11-01T10:00:00Z", "job", "assistant")), undefined);
  assert.deepEqual(latest(wrote("2026-11-01T10:00:00Z", "key", "assistant")), {
    at: "2026-11-01T10:00:00Z",
    key: undefined,
  });
});

test("what the user saves in a chat of the console is not a call of an assistant", () => {
  const at = "2026-11-01T10:00:00Z";
  const memory = { session_id: "chat-m1-aa", known_from: at, created_at: at } as MemoryView;
  const byId = new Map([["mem_1", memory]]);
  const local = [wrote(at, "key", "assistant")];
  assert.equal(latestWrite(local, [], { ...NONE, byId }), undefined);
  assert.equal(latestWrite(local, [], NONE)?.at, at);
  assert.equal(latestWrite(local, [], { ...NONE, byId: new Map() }), undefined);
  const signedIn = [wrote(at, "key", "assistant", "sign-in-1"), ...local];
  const known = { byId, signIns: new Set(["sign-in-1"]) };
  assert.equal(latestWrite(signedIn, [], known), undefined);
  const older = wrote("2026-10-01T10:00:00Z", "key", "assistant", "4");
  const keys = [key("4", null)];
  assert.equal(latestWrite([...signedIn, older], keys, known)?.key, "key 4");
});

test("the last use of a key counts too, except of admin keys and of other users", () => {
  const keys = [
    key("1", "2026-11-01T11:00:00Z"),
    key("2", "2026-11-01T12:00:00Z", ["admin"]),
    key("3", "2026-11-01T13:00:00Z", ["read"], "bob"),
    key("4", null),
  ];
  const write = latestWrite([wrote("2026-11-01T10:00:00Z", "key", "assistant", "4")], keys, NONE);
  assert.equal(latestOf([write, latestUse(keys, "ann")])?.key, "key 1");
  assert.equal(latestOf([write, latestUse(keys, "bob")])?.key, "key 3");
  assert.equal(latestOf([write, latestUse(keys.slice(3), "ann"), null])?.key, "key 4");
});
