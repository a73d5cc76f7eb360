import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionView } from "lukasa-client";
import { chatsOf, withChats } from "../../src/data/chat-pages.ts";

const chat = (id: string, title = id) => ({ id, title }) as SessionView;
const ids = (chats: readonly SessionView[]) => chats.map(({ id }) => id);

test("pages of chats are one list without repetitions", () => {
  const pages = [
    { data: [chat("c"), chat("b", "new")], next_cursor: "b" },
    { data: [chat("b", "old"), chat("a")], next_cursor: null },
  ];
  const chats = chatsOf({ pages });
  assert.deepEqual(ids(chats), ["c", "b", "a"]);
  assert.equal(chats[1]?.title, "new");
});

test("a change of a chat is shown on whichever page it is, and the cursors stay", () => {
  const all = {
    pages: [
      { data: [chat("c"), chat("b")], next_cursor: "b" },
      { data: [chat("a")], next_cursor: null },
    ],
    pageParams: [undefined, "b"],
  };
  const without = withChats(all, (chats) => chats.filter(({ id }) => id !== "a"));
  assert.deepEqual(ids(chatsOf(without)), ["c", "b"]);
  assert.deepEqual(
    without.pages.map((page) => page.next_cursor),
    ["b", null],
  );
  assert.deepEqual(without.pageParams, all.pageParams);
  assert.deepEqual(ids(chatsOf(all)), ["c", "b", "a"]);
});
