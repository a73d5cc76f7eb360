import assert from "node:assert/strict";
import { test } from "node:test";
import { addFound, emptyFound } from "../../src/data/archive/found.ts";
import {
  batchesOf,
  type ChatItem,
  type ImportItem,
  piecesOf,
} from "../../src/data/archive/items.ts";
import { jsonElements } from "../../src/data/archive/json-elements.ts";
import { type ChatExport, openJson, openZip, readItems } from "../../src/data/archive/open.ts";
import { isZip, openEntry, readDirectory, ZipError } from "../../src/data/archive/zip.ts";
import { type TestFile, zipOf } from "../zip.ts";

const zip = (...files: TestFile[]) => new File([zipOf(files)], "export.zip");
const json = (name: string, value: unknown): TestFile => ({ name, content: JSON.stringify(value) });

const node = (id: string, parent: string | null, children: string[], message: unknown) => ({
  id,
  parent,
  children,
  message,
});
const says = (role: string, text: string, more: object = {}) => ({
  author: { role },
  content: { content_type: "text", parts: [text] },
  ...more,
});

/** A question that was edited, and an answer to each version; only the second pair is current. */
const CHATGPT = {
  title: "Seats",
  create_time: 1_700_000_000.5,
  conversation_id: "c-1",
  current_node: "a2",
  mapping: {
    root: node("root", null, ["u1", "u2"], null),
    u1: node("u1", "root", ["a1"], says("user", "Aisle?")),
    a1: node("a1", "u1", [], says("assistant", "Aisle it is.")),
    u2: node("u2", "root", ["t2"], {
      author: { role: "user" },
      create_time: 1_700_000_010,
      content: {
        content_type: "multimodal_text",
        parts: [{ content_type: "image_asset_pointer" }, "Window, please."],
      },
    }),
    t2: node("t2", "u2", ["a2"], says("assistant", "seats()", { recipient: "python" })),
    a2: node("a2", "t2", [], says("assistant", "Window it is.", { create_time: 1_700_000_011 })),
  },
};

const CLAUDE = {
  uuid: "u-1",
  name: "Bread",
  created_at: "2024-05-01T10:00:00.123Z",
  chat_messages: [
    { sender: "human", text: "x", content: [{ type: "text", text: "I bake rye bread." }] },
    {
      sender: "assistant",
      text: "fallback",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Lovely." },
      ],
    },
    { sender: "human", text: "", content: [] },
  ],
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function opened(file: File): Promise<ChatExport> {
  const found = await openZip(file);
  assert.ok(typeof found === "object");
  return found;
}

const said = (item: ImportItem | undefined) =>
  item?.item === "chat" ? item.turns.map((turn) => `${turn.role}: ${turn.content}`) : [];

test("ZIP entries are read, stored and deflated", async () => {
  const file = zip(
    { name: "a.txt", content: "stored", stored: true },
    { name: "folder/ä.txt", content: "deflated ".repeat(1_000) },
  );
  assert.equal(await isZip(file), true);
  assert.equal(await isZip(new File(["[]"], "a.json")), false);
  const { entries } = await readDirectory(file);
  assert.deepEqual(
    entries.map((entry) => [entry.name, entry.method, entry.bytes]),
    [
      ["a.txt", 0, 6],
      ["folder/ä.txt", 8, 9_000],
    ],
  );
  for (const [at, text] of ["stored", "deflated ".repeat(1_000)].entries()) {
    const entry = entries[at];
    assert.ok(entry);
    assert.equal(await new Response(await openEntry(file, entry)).text(), text);
  }
});

test("ZIP that is damaged, lies about a size, or expands too much is refused", async () => {
  const whole = zipOf([json("a.json", [1, 2, 3])]);
  for (const cut of [1, 20, whole.length - 30]) {
    await assert.rejects(readDirectory(new Blob([whole.slice(0, whole.length - cut)])), ZipError);
  }
  for (const declaredBytes of [3, 300]) {
    const file = zip({ name: "a.json", content: "0123456789", declaredBytes });
    const [entry] = (await readDirectory(file)).entries;
    assert.ok(entry);
    await assert.rejects(new Response(await openEntry(file, entry)).text());
  }
  const bomb = zip({ name: "a.json", content: new Uint8Array(4 * 1024 * 1024) });
  const [entry] = (await readDirectory(bomb)).entries;
  assert.ok(entry);
  await assert.rejects(openEntry(bomb, entry), ZipError);
});

test("JSON is split into elements across chunks", async () => {
  const text = '\ufeff[{"a": "}]\\"{"}, {"b": [{"c": 1}]},\n{broken}]\n{"ä": "é"}';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size)
          controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const values = (await all(jsonElements(stream))).map((element) => element?.value);
    assert.deepEqual(values, [{ a: '}]"{' }, { b: [{ c: 1 }] }, undefined, { ä: "é" }]);
  }
  const stream = () => new Blob([`[{"a": "${"x".repeat(500)}"}, {"b`]).stream();
  assert.deepEqual((await all(jsonElements(stream()))).length, 2);
  await assert.rejects(all(jsonElements(new Blob([`{"${"x".repeat(500)}`]).stream(), 100)));
});

test("ChatGPT export: current branch, numbered files, other files ignored", async () => {
  const other = { ...CHATGPT, conversation_id: "c-2", current_node: undefined };
  const file = zip(
    json("export/conversations-001.json", [other, { title: "Empty", mapping: {} }]),
    json("export/conversations-000.json", [CHATGPT]),
    json("export/shared_conversations.json", [CHATGPT]),
    { name: "export/image.png", content: "…", stored: true },
  );
  const found = await opened(file);
  assert.equal(found.vendor, "chatgpt");
  let unread = 0;
  const items = await all(readItems(found, { onUnread: () => unread++ }));
  assert.deepEqual(
    items.map((item) => item.source),
    ["c-1", "c-2"],
  );
  for (const item of items) {
    assert.deepEqual(said(item), ["user: Window, please.", "assistant: Window it is."]);
  }
  assert.equal(unread, 1);
  const [chat] = items as ChatItem[];
  assert.equal(chat?.opened_at, "2023-11-14T22:13:20.500Z");
  assert.equal(chat?.turns[0]?.said_at, "2023-11-14T22:13:30.000Z");
});

test("ChatGPT branch with a cycle ends", async () => {
  const mapping = { ...CHATGPT.mapping, root: node("root", "a2", ["u2"], null) };
  const found = await openJson(new File([JSON.stringify({ ...CHATGPT, mapping })], "c.json"));
  assert.ok(found);
  assert.equal(said((await all(readItems(found)))[0]).length, 2);
});

test("Claude export: chats and memories", async () => {
  const memories = {
    conversations_memory: "**Work**\n\nAna is a baker.\n- Lives in **Porto**\n## Food",
    project_memories: { p: "Plans a bakery." },
  };
  const file = zip(json("memories.json", [memories]), json("conversations.json", [CLAUDE]));
  const found = await opened(file);
  assert.equal(found.vendor, "claude");
  const items = await all(readItems(found));
  assert.deepEqual(said(items[0]), ["user: I bake rye bread.", "assistant: Lovely."]);
  const contents = items.flatMap((item) => (item.item === "memory" ? [item.content] : []));
  assert.deepEqual(contents, ["Ana is a baker.", "Lives in Porto", "Plans a bakery."]);
  // The same id as the command line's, so that nothing is imported twice.
  assert.match(items[1]?.source ?? "", /^memory-[0-9a-f]{32}$/);
  const summary = emptyFound();
  for (const item of items) addFound(summary, item);
  assert.deepEqual(
    [summary.chats, summary.messages, summary.memories, summary.newest[0]?.title],
    [1, 2, 3, "Bread"],
  );
});

test("other ZIPs and files are recognised", async () => {
  assert.equal(await openZip(zip(json("manifest.json", {}))), "lukasa");
  assert.equal(await openZip(zip(json("photos.json", []))), "unknown");
  assert.equal(await openJson(new File(['{"item":"memory"}'], "a.jsonl")), undefined);
  assert.equal(await openJson(new File(["plain text"], "a.txt")), undefined);
});

test("long chats are split, and batches stay within the limits", async () => {
  const turns = Array.from({ length: 450 }, (_, at) => ({
    role: "user" as const,
    content: `Message ${at}`,
  }));
  const chat: ChatItem = { item: "chat", source: "c", before: 0, turns, last: true };
  assert.deepEqual(
    (piecesOf(chat) as ChatItem[]).map((one) => [one.before, one.turns.length, one.last]),
    [
      [0, 200, false],
      [200, 200, false],
      [400, 50, true],
    ],
  );
  const items = async function* (): AsyncGenerator<ImportItem> {
    yield chat;
    for (let at = 0; at < 250; at++)
      yield { item: "memory", source: String(at), content: `Fact ${at}` };
  };
  const batches = await all(batchesOf(items()));
  assert.deepEqual(
    batches.map((body) => body.split("\n").length),
    [1, 1, 200, 51],
  );
});
