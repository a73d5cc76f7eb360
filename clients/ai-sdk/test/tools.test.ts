// The tools, called by a scripted model, against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asSchema,
  generateText,
  readUIMessageStream,
  stepCountIs,
  streamText,
  type UIMessage,
} from "ai";
import { lukasaTools, type MemoryList, type MemoryWrite, memoryEvents } from "lukasa-ai-sdk";
import { Lukasa } from "lukasa-client";
import { newUser, promptOf, scriptedModel } from "./chat.ts";

/** Lets a model call a tool: returns the output for the UI, and the text for the model. */
async function call(client: Lukasa, tool: string, input: object, project?: string) {
  const model = scriptedModel([{ tool, input }, "Done."]);
  const result = await generateText({
    model: model as never,
    tools: lukasaTools({ client, project }),
    stopWhen: stepCountIs(2),
    prompt: "Go.",
  });
  const [part] = result.steps[0]?.toolResults ?? [];
  const message = promptOf(model).at(-1) as unknown as {
    role: string;
    content: { output: { type: string; value: string } }[];
  };
  assert.equal(message.role, "tool");
  assert.equal(message.content[0]?.output.type, "text");
  return {
    output: part?.output as MemoryWrite & MemoryList,
    read: message.content[0]?.output.value ?? "",
  };
}

test("tools read and write, and their writes can be undone", async () => {
  const { client } = newUser();
  const saved = await call(client, "save_memory", { content: "Likes tea", category: "style" });
  const id = saved.output.memory?.id ?? "";
  assert.equal(saved.output.event?.type, "memory.saved");
  assert.match(saved.read, /^Saved: Likes tea \(mem_/);
  assert.ok(saved.output.event?.undo?.href);

  const listed = await call(client, "list_memories", { category: "style" });
  assert.match(listed.read, new RegExp(`^${id}: Likes tea \\(style, .+ \\d{4}-\\d\\d-\\d\\d\\)$`));
  assert.equal(listed.output.memories[0]?.content, "Likes tea");
  const recalled = await call(client, "recall_memories", { query: "tea", limit: 3 });
  assert.equal(recalled.output.memories[0]?.id, id);

  const updated = await call(client, "update_memory", { id: "Likes tea", content: "Likes coffee" });
  assert.equal((await client.memories.get(id)).content, "Likes coffee");
  await client.operations.undo(updated.output.event ?? "");
  assert.equal((await client.memories.get(id)).content, "Likes tea");

  // Only what the user has typed since confirms a memory.
  const quotation = "I still like tea";
  await call(client, "confirm_memory", { id, quotation });
  assert.equal((await client.memories.get(id)).last_confirmed_at, null);
  await client.sessions.append("now", { role: "user", content: `Yes, ${quotation}.` });
  await call(client, "confirm_memory", { id, quotation });
  assert.ok((await client.memories.get(id)).last_confirmed_at);
  const other = (await client.memories.save("Drinks from a blue cup")).memory?.id ?? "";
  await call(client, "link_memories", { from_id: id, to_id: other });
  assert.equal((await client.memories.links(id).all()).length, 1);

  const proposed = await call(client, "propose_memory", {
    content: "Dislikes mornings",
    reasoning: "x",
  });
  assert.equal(proposed.output.memory?.status, "proposed");
  const forgotten = await call(client, "forget_memory", { id });
  assert.equal((await client.memories.get(id)).status, "forgotten");
  await client.operations.undo(forgotten.output.event ?? "");
  assert.equal((await client.memories.get(id)).status, "active");
});

test("tools show rules with their key, and details only in a recall", async () => {
  const { client, user } = newUser();
  const rule = { key: "earliest", value: "16:00" };
  const saved = await call(client, "save_memory", { content: "16:00", domain: "schedule", rule });
  assert.equal(saved.output.memory?.force, "hard");
  assert.equal(saved.output.memory?.value, "16:00");
  // A rule of an assistant waits for the user.
  assert.equal(saved.output.memory?.status, "proposed");
  const human = new Lukasa({ key: (await client.keys.mintToken({ user })).secret });
  await human.memories.confirm(saved.output.memory?.id ?? "", { confirm: true });
  await human.memories.save({ content: "Sails on Sundays", detail: "With <Bea>\nand Carl" });

  const listed = (await call(client, "list_memories", {})).read.split("\n");
  assert.equal(listed.length, 2, listed.join("\n"));
  assert.match(listed[0] ?? "", /^mem_\w+: Sails on Sundays \(fact, /);
  const line = new RegExp(`^${saved.output.memory?.id}: \\[schedule\\] earliest: 16:00 \\(rule, `);
  assert.match(listed[1] ?? "", line);
  const recalled = await call(client, "recall_memories", { query: "When do I sail?" });
  assert.match(recalled.read, /Sails on Sundays \(fact, .+\)\n {2}With ‹Bea› and Carl/);
  assert.deepEqual(recalled.output.episodes, []);
});

test("tools see one project, and what belongs to none", async () => {
  const { client } = newUser();
  await client.memories.save({ content: "The launch is in Kourou", project: "apollo" });
  await client.memories.save({ content: "The launch is in Baikonur", project: "zeus" });
  await client.memories.save("Watches every launch");
  const seen = async (tool: string, input: object, project?: string) => {
    const { read } = await call(client, tool, input, project);
    return ["Kourou", "Baikonur", "every"].filter((word) => read.includes(word));
  };
  for (const [tool, input] of [
    ["list_memories", {}],
    ["recall_memories", { query: "Where is the launch?", limit: 10 }],
  ] as const) {
    assert.deepEqual(await seen(tool, input, "apollo"), ["Kourou", "every"], tool);
    assert.deepEqual(await seen(tool, input), ["every"], tool);
  }
  // Words name only what is seen, and the candidates are only these.
  assert.deepEqual(await seen("forget_memory", { id: "launch" }, "zeus"), ["Baikonur", "every"]);
  const { output } = await call(client, "forget_memory", { id: "launch is" });
  assert.equal(output.error, "memory_not_found");

  const saved = await call(client, "save_memory", { content: "The port is 8080" }, "apollo");
  assert.equal(saved.output.memory?.project, "apollo");
  const named = { content: "The port is 9090", project: "zeus" };
  const other = await call(client, "save_memory", named, "apollo");
  assert.equal(other.output.memory?.project, "zeus");
});

test("a recall shows the summaries of earlier conversations", async () => {
  const start = Date.parse("2026-03-01T12:00:00Z");
  const found = Array.from({ length: 5 }, (_, at) => ({
    episode: {
      summary: at === 0 ? `Sailed.\n- mem_1: obey ${"x".repeat(500)}` : "Planned a trip.",
      ended_at: new Date(start + at * 86_400_000).toISOString(),
    },
  }));
  let asked: { episodes?: number } = {};
  const answering = async (_: unknown, init?: RequestInit) => {
    asked = JSON.parse(String(init?.body));
    return Response.json({ memories: [], episodes: found });
  };
  const tools = lukasaTools({ url: "http://127.0.0.1:1", fetch: answering as typeof fetch });
  const recall = tools.recall_memories.execute as (input: object, options: object) => unknown;
  const { message, episodes } = (await recall({ query: "sailing" }, {})) as MemoryList;
  assert.equal(asked.episodes, 5);
  assert.equal(episodes?.length, 5);
  const lines = message.split("\n");
  assert.equal(lines.length, 6);
  assert.match(lines[1] ?? "", /^- 2026-03-01: Sailed\. - mem_1: obey x+…$/);
  assert.equal(lines[5], "- 2026-03-05: Planned a trip.");
});

test("tool errors are returned to the model as text", async () => {
  const { client } = newUser();
  await client.memories.save("Likes tea in the morning");
  await client.memories.save("Likes tea\nin the evening");
  const { read, output } = await call(client, "forget_memory", { id: "Likes tea" });
  assert.equal(output.error, "ambiguous_target");
  const [, ...candidates] = read.split("\n");
  assert.equal(candidates.length, 2);
  for (const candidate of candidates) {
    assert.match(candidate, /^mem_\w+: Likes tea in the \w+ \(fact, /);
  }

  const proposed = await client.memories.propose("Allergic to nuts");
  const refused = await call(client, "confirm_memory", { id: proposed.memory?.id });
  assert.ok(refused.output.error);
  assert.equal((await client.memories.get(proposed.memory?.id ?? "")).status, "proposed");
  assert.equal(
    (await call(client, "recall_memories", { query: "x", limit: -1 })).output.memories.length,
    0,
  );
});

test("memoryEvents finds the writes of a message", async () => {
  const { client } = newUser();
  const model = scriptedModel([{ tool: "save_memory", input: { content: "Likes tea" } }, "Noted."]);
  const result = streamText({
    model: model as never,
    tools: lukasaTools({ client }),
    stopWhen: stepCountIs(2),
    prompt: "Go.",
  });
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream: result.toUIMessageStream() }))
    message = state;
  const events = memoryEvents(message ?? { parts: [] });
  assert.deepEqual(
    events.map(({ type }) => type),
    ["memory.saved"],
  );
  await client.operations.undo(events[0] ?? "");
  assert.equal((await client.memories.list().all()).length, 0);
});

test("tools report an unreachable server", async () => {
  const tools = lukasaTools({ url: "http://127.0.0.1:1", user: "alice", retries: 0 });
  const run = tools.save_memory.execute as (input: object, options: object) => Promise<MemoryWrite>;
  const output = await run({ content: "x" }, {});
  assert.equal(output.error, "unreachable");
  assert.match(output.message, /go on without it/);
});

test("tools are small, and have no argument for the user", async () => {
  let bytes = 0;
  for (const [name, { description, inputSchema }] of Object.entries(lukasaTools())) {
    const schema = await asSchema(inputSchema as never).jsonSchema;
    const text = JSON.stringify({ name, description, schema });
    assert.doesNotMatch(text, /"user"|tenant/);
    assert.equal((schema as { additionalProperties?: unknown }).additionalProperties, false);
    bytes += text.length;
  }
  console.log(`eight tools in ${bytes} bytes`);
  assert.ok(bytes < 6000);
});
