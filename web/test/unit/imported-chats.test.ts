import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chatsImported,
  importedChat,
  importedPrefixes,
  isLearned,
  setUpTab,
} from "../../src/data/imported-chats.ts";

type Import = Parameters<typeof importedPrefixes>[0][number];

const imported = (format: string, chats: number, undone_at?: string): Import => ({
  format,
  undone_at,
  counts: { chats } as Import["counts"],
});

const IMPORTS = [
  imported("chatgpt", 2),
  imported("chatgpt", 1),
  imported("mem0", 0),
  imported("claude", 3, "2026-01-01T00:00:00Z"),
];

test("imports that are undone or brought no chats do not count", () => {
  assert.equal(chatsImported(IMPORTS), 3);
  assert.deepEqual(importedPrefixes(IMPORTS), ["chatgpt:"]);
});

test("state is read of the newest imported chat with messages, and of no other", () => {
  const chats = [
    { id: "chat-new", turns: 4 },
    { id: "claude:1", turns: 2 },
    { id: "chatgpt:empty", turns: 0 },
    { id: "chatgpt:2", turns: 2 },
    { id: "chatgpt:1", turns: 2 },
  ];
  assert.equal(importedChat(chats, importedPrefixes(IMPORTS)), "chatgpt:2");
  assert.equal(importedChat(chats.slice(0, 3), importedPrefixes(IMPORTS)), undefined);
});

test("imported chats that wait for a model lead the operator to the model", () => {
  for (const state of ["no_model", "waiting_for_model"]) {
    assert.equal(isLearned(state), false, state);
    assert.equal(setUpTab(state, true), "assistants", state);
    assert.equal(setUpTab(state, false), undefined, state);
  }
  assert.equal(isLearned("off"), false);
  assert.equal(isLearned("queued"), true);
  for (const state of ["off", "queued", undefined]) assert.equal(setUpTab(state, true), "rules");
});
