import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView, OperationView } from "lukasa-client";
import { isConsoleChat } from "../../src/data/console-chat.ts";

const AT = "2026-11-01T10:00:00Z";
const byKey = { caller: "key", credential: "local", origin: "assistant", at: AT } as OperationView;
const wrote = {
  session_id: "chat-m1-aa",
  known_from: AT,
  created_at: "2026-10-01T10:00:00Z",
} as MemoryView;
const NONE = new Set<string>();

test("console chat is told from an app by the chat that the memory names", () => {
  assert.ok(isConsoleChat(byKey, NONE, wrote));
  assert.ok(isConsoleChat({ ...byKey, at: wrote.created_at }, NONE, wrote));
  assert.ok(!isConsoleChat(byKey, NONE, undefined));
  assert.ok(!isConsoleChat(byKey, NONE, { ...wrote, session_id: "agent-1" }));
  // An app changed it later.
  assert.ok(!isConsoleChat({ ...byKey, at: "2026-11-02T10:00:00Z" }, NONE, wrote));
  assert.ok(!isConsoleChat({ ...byKey, caller: "human" }, NONE, wrote));
  assert.ok(!isConsoleChat({ ...byKey, origin: "import" }, NONE, wrote));
});

test("console chat is told from an app by the sign-in of the user", () => {
  const signIns = new Set(["s1"]);
  assert.ok(isConsoleChat({ ...byKey, credential: "s1" }, signIns, undefined));
  assert.ok(!isConsoleChat({ ...byKey, credential: "k1" }, signIns, wrote));
});
