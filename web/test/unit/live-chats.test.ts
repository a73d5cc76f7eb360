import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import type { Lukasa } from "lukasa-client";
import type { CompletionRequest, StreamEvent } from "../../src/data/gateway.ts";
import { chatName, LiveChats } from "../../src/features/chat/live-chats.ts";

const lukasa = {} as Lukasa;
const BEGUN: StreamEvent = { kind: "begun", memories: 2, retrieval: "ret_1", degraded: ["rerank"] };
const CLOSE_DELAY_MS = 400;

/** A gateway whose answers are scripted: an error is thrown, "hang" waits until the request is aborted. */
class FakeGateway {
  script: (StreamEvent | Error | "hang")[] = [];
  readonly closed: string[] = [];

  stream = async function* (
    this: FakeGateway,
    _: Lukasa,
    { signal }: CompletionRequest,
  ): AsyncGenerator<StreamEvent> {
    for (const step of this.script) {
      if (step instanceof Error) throw step;
      if (step !== "hang") yield step;
      else {
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      }
    }
  }.bind(this);

  close = (_: Lukasa, session: string): void => {
    this.closed.push(session);
  };
}

function setUp() {
  const gateway = new FakeGateway();
  const chats = new LiveChats(gateway);
  const send = (name: string, words = "Hi", session: string | null = name) =>
    chats.send(lukasa, name, words, 0, { model: "m", messages: [], mode: "on", session });
  return { gateway, chats, send };
}

/** Lets pending promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("live answer is collected from the stream, with one render for several events", async () => {
  const { gateway, chats, send } = setUp();
  gateway.script = [BEGUN, { kind: "words", text: "Hel" }, { kind: "words", text: "lo" }];
  let renders = 0;
  chats.subscribe(() => renders++);
  await send("a", "Greet me");
  const [round] = chats.rounds("a");
  assert.deepEqual(
    [round?.asked, round?.answer, round?.state, round?.given, round?.retrieval, round?.degraded],
    ["Greet me", "Hello", "done", 2, "ret_1", ["rerank"]],
  );
  mock.timers.tick(40);
  assert.equal(renders, 1);
  assert.equal(chats.rounds("b").length, 0);
});

test("live tool call is running until its result arrives, also if its id is used again", async () => {
  const { gateway, chats, send } = setUp();
  const tool = { id: "1", name: "save_memory" };
  const result = { memory: { id: "mem_1", content: "Tea" } };
  gateway.script = [
    { kind: "tool", tool: { ...tool, state: "running", arguments: { domain: "health" } } },
    { kind: "tool", tool: { ...tool, state: "done", took_ms: 5, result } },
    { kind: "tool", tool: { ...tool, state: "running", arguments: { domain: "health" } } },
    {
      kind: "tool",
      tool: { ...tool, state: "done", failed: true, result: { error: { code: "opt_in_needed" } } },
    },
  ];
  await send("a");
  const calls = chats.rounds("a")[0]?.calls ?? [];
  assert.deepEqual(
    calls.map(({ id, running, failed, memories, shut }) => [id, running, failed, memories, shut]),
    [
      ["1 0", false, false, ["mem_1"], null],
      ["1 1", false, true, [], "health"],
    ],
  );
  assert.deepEqual(calls[0]?.words, { mem_1: "Tea" });
});

test("live answer that is stopped keeps its text and has no error", async () => {
  const { gateway, chats, send } = setUp();
  gateway.script = [BEGUN, { kind: "words", text: "Hel" }, "hang"];
  const sending = send("a");
  await settle();
  assert.equal(chats.answering(), "a");
  // A second message is ignored while the first is being answered.
  await send("a", "Again");
  chats.stop("a");
  await sending;
  assert.equal(chats.answering(), "");
  const rounds = chats.rounds("a");
  assert.deepEqual(
    rounds.map(({ answer, state, error }) => [answer, state, error]),
    [["Hel", "stopped", undefined]],
  );
});

test("live round that failed without an answer is replaced by the next message", async () => {
  const { gateway, chats, send } = setUp();
  gateway.script = [new Error("refused")];
  await send("a", "One");
  assert.equal(chats.rounds("a")[0]?.state, "failed");
  assert.match(String(chats.rounds("a")[0]?.error), /refused/);
  gateway.script = [BEGUN, { kind: "words", text: "Half" }, new Error("cut off")];
  await send("a", "Two");
  gateway.script = [BEGUN];
  await send("a", "Three");
  assert.deepEqual(
    chats.rounds("a").map(({ asked }) => asked),
    ["Two", "Three"],
  );
});

test("live state of a stored round is remembered by its retrieval", async () => {
  const { gateway, chats, send } = setUp();
  const tool = { id: "1", name: "save_memory" };
  gateway.script = [
    BEGUN,
    { kind: "tool", tool: { ...tool, state: "running" } },
    { kind: "tool", tool: { ...tool, state: "done", failed: true, message: "full" } },
  ];
  await send("a");
  const [round] = chats.rounds("a");
  assert.ok(round);
  chats.dropStored("a", [round]);
  assert.equal(chats.rounds("a").length, 0);
  const calls = round.calls.map((call) => ({ ...call, message: null }));
  const stored = chats.withLiveState({ ...round, key: "turn-1", calls, degraded: [] });
  assert.deepEqual([stored.key, stored.degraded], [round.key, ["rerank"]]);
  assert.equal(stored.calls[0]?.message, "full");
  const other = { ...round, retrieval: "ret_2" };
  assert.equal(chats.withLiveState(other), other);
});

test("chat with new messages is closed once, some time after it was left", async () => {
  const { gateway, chats, send } = setUp();
  chats.open(lukasa, "a");
  await send("a");
  chats.open(lukasa, "b");
  assert.deepEqual(gateway.closed, []);
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual(gateway.closed, ["a"]);
  // Nothing new was written, so nothing is closed.
  chats.open(lukasa, "a");
  chats.open(lukasa, "b");
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual(gateway.closed, ["a"]);
});

test("chat that is opened again at once is not closed", async () => {
  const { gateway, chats, send } = setUp();
  chats.open(lukasa, "a");
  await send("a");
  chats.open(lukasa, "");
  chats.open(lukasa, "a");
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual(gateway.closed, []);
});

test("chat that is left during its answer is closed after the answer", async () => {
  const { gateway, chats, send } = setUp();
  gateway.script = [BEGUN, "hang"];
  chats.open(lukasa, "a");
  const sending = send("a");
  await settle();
  chats.open(lukasa, "b");
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual(gateway.closed, []);
  chats.stop("a");
  await sending;
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual(gateway.closed, ["a"]);
});

test("incognito chat ends at once when it is left, with its draft", async () => {
  const { gateway, chats, send } = setUp();
  const name = chatName(null, "read-only");
  gateway.script = [BEGUN, "hang"];
  chats.open(lukasa, name);
  chats.setDraft(name, "secret");
  const sending = send(name, "Hi", "chat-1");
  await settle();
  chats.open(lukasa, "b");
  assert.deepEqual(gateway.closed, ["chat-1"]);
  assert.equal(chats.draft(name), "");
  await sending;
  assert.equal(chats.rounds(name).length, 0);
});

test("open chat and left chats are closed when the page is unloaded", async () => {
  const { gateway, chats, send } = setUp();
  chats.open(lukasa, "a");
  await send("a");
  chats.open(lukasa, "b");
  gateway.script = [BEGUN, "hang"];
  const sending = send("b");
  await settle();
  chats.closeAll();
  assert.deepEqual(gateway.closed, ["a", "b"]);
  await sending;
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual(gateway.closed, ["a", "b"]);
});

test("forgotten chat is not closed: closing would trigger learning from it", async () => {
  const { gateway, chats, send } = setUp();
  chats.open(lukasa, "a");
  await send("a");
  chats.forget("a");
  chats.open(lukasa, "b");
  mock.timers.tick(CLOSE_DELAY_MS);
  assert.deepEqual([gateway.closed, chats.rounds("a").length], [[], 0]);
});
