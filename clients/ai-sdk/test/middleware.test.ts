// The middleware with scripted models, against the real server.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { generateText, stepCountIs, streamText } from "ai";
import { type LukasaMetadata, lukasaTools, withLukasa } from "lukasa-ai-sdk";
import { type Message, newUser, promptOf, scriptedModel, system, textOf, version } from "./chat.ts";

const specs = version === 7 ? ["V3", "V4"] : ["V3"];
const metadataOf = (metadata: Record<string, unknown> | undefined) =>
  metadata?.lukasa as LukasaMetadata;

for (const spec of specs) {
  test(`baseline and dynamic part are in their places of the prompt (${spec})`, async () => {
    const { client, options } = newUser();
    await client.memories.save({ content: "Prefers window seats", domain: "travel" });
    const model = scriptedModel(["By the window."], { spec });
    const messages = [
      { role: "user" as const, content: "Hello" },
      { role: "assistant" as const, content: "Hello!" },
      { role: "user" as const, content: "Where do I sit on a plane?" },
    ];
    const before = structuredClone(messages);
    const result = await generateText({
      model: withLukasa(model, options),
      ...system("Be brief."),
      messages,
    });
    assert.equal(result.text, "By the window.");
    assert.deepEqual(messages, before);
    const prompt = promptOf(model);
    assert.deepEqual(
      prompt.map(({ role }) => role),
      ["system", "user", "assistant", "user"],
    );
    assert.match(textOf(prompt[0]), /^Be brief\.\n\n<memory nonce/);
    assert.equal(textOf(prompt[1]), "Hello");
    assert.equal(textOf(prompt[3]), "Where do I sit on a plane?");
    assert.match(prompt.map(textOf).join(), /Prefers window seats/);
    // A memory saved during the chat is only in the dynamic part, right before the last message.
    await client.memories.save({ content: "Flies with a cat", domain: "travel" });
    await generateText({ model: withLukasa(model, options), ...system("Be brief."), messages });
    const later = promptOf(model);
    assert.deepEqual(later.slice(0, 3), prompt.slice(0, 3));
    assert.match(
      textOf(later[3]),
      /^<memory-now [^|]*Flies with a cat[^|]*\|Where do I sit on a plane\?$/,
    );
    const lukasa = metadataOf(result.providerMetadata);
    assert.ok(lukasa.memories >= 1 && lukasa.tokens > 0);
    assert.match(lukasa.retrieval_id ?? "", /^ret_/);
    assert.deepEqual([lukasa.session, lukasa.degraded], ["chat-1", []]);
  });
}

/** Runs a chat in which a memory is saved before each turn; returns the distinct system prompts. */
async function chat(retrieve: { freeze?: boolean }): Promise<Set<string>> {
  const { client, options } = newUser();
  await client.memories.save({ content: "Lives in Lisbon", category: "profile" });
  const model = scriptedModel(["Yes."]);
  const messages: Message[] = [];
  const baselines = new Set<string>();
  for (let turn = 0; turn < 6; turn++) {
    await client.memories.save({ content: `Has visited town number ${turn}`, category: "profile" });
    messages.push({ role: "user", content: `Do you know town number ${turn}?` });
    const wrapped = withLukasa(model, { ...options, retrieve });
    await generateText({ model: wrapped, messages: messages as never });
    messages.push({ role: "assistant", content: "Yes." });
    baselines.add(textOf(promptOf(model)[0]));
  }
  return baselines;
}

test("system prompt stays byte for byte the same while memories are added", async () => {
  assert.equal((await chat({})).size, 1);
});

test("system prompt changes without freezing", async () => {
  assert.ok((await chat({ freeze: false })).size > 1);
});

test("messages are stored once although each request contains all of them", async () => {
  const { options, turns, settled } = newUser();
  const messages: Message[] = [];
  for (const question of ["My name is Ada.", "What is my name?", "Thank you."]) {
    messages.push({ role: "user", content: question });
    const answer = `On "${question}"`;
    const model = withLukasa(scriptedModel([answer]), options);
    await generateText({ model, messages: messages as never });
    messages.push({ role: "assistant", content: answer });
    await settled();
  }
  const stored = messages.map(({ role, content }) => `${role}: ${content}`);
  assert.deepEqual(await turns(), stored);
  // Answered once more: the answer is new, the question is not.
  const again = withLukasa(scriptedModel(["You are welcome."]), options);
  await generateText({ model: again, messages: messages.slice(0, -1) as never });
  assert.deepEqual(await turns(), [...stored, "assistant: You are welcome."]);
  assert.ok(stored.every((turn) => !turn.includes("<memory")));
});

test("stream is passed through unchanged and stored", async () => {
  const { client, options, turns } = newUser();
  await client.memories.save("Prefers window seats");
  const answer = "You sit by the window [m1], of course.";
  const plain = scriptedModel([answer]);
  const model = scriptedModel([answer]);
  const read = async (result: ReturnType<typeof streamText>) => {
    const parts = [];
    for await (const part of result.fullStream) {
      if (part.type.startsWith("text")) parts.push(part);
    }
    return parts;
  };
  const prompt = "Where do I sit?";
  const without = streamText({ model: plain as never, prompt });
  const result = streamText({ model: withLukasa(model, options), prompt });
  assert.deepEqual(await read(result), await read(without));
  assert.ok(metadataOf(await result.providerMetadata).memories >= 1);
  assert.deepEqual(await turns(), [`user: ${prompt}`, `assistant: ${answer}`]);
  // Cited memories are stored as used.
  const why = await client.sessions.why("chat-1", 2);
  const cited = why.memories.filter(({ how }) => how === "cited");
  assert.deepEqual(
    cited.map(({ memory }) => memory.content),
    ["Prefers window seats"],
  );
});

test("aborted answer is stored as far as it was streamed", async () => {
  const { options, turns } = newUser();
  const model = scriptedModel(["One two three four five six."], { pause: 30 });
  const stopped = new AbortController();
  const result = streamText({
    model: withLukasa(model, options),
    prompt: "Count.",
    abortSignal: stopped.signal,
    onError: () => {},
  });
  let seen = "";
  try {
    for await (const text of result.textStream) {
      seen += text;
      if (seen.includes("two")) stopped.abort();
    }
  } catch {
    // Depending on the version the stream ends or throws; both are fine.
  }
  await new Promise((done) => setTimeout(done, 100));
  const [question, answer, ...more] = await turns();
  assert.equal(question, "user: Count.");
  assert.match(answer ?? "", /^assistant: One two/);
  assert.doesNotMatch(answer ?? "", /six/);
  assert.deepEqual(more, []);
});

test("steps with tool calls are stored as one answer", async () => {
  const { options, client, turns } = newUser();
  const input = { content: "Likes tea" };
  const model = scriptedModel([{ tool: "save_memory", input, words: "One moment." }, "Noted."]);
  const result = await generateText({
    model: withLukasa(model, options),
    tools: lukasaTools(options),
    stopWhen: stepCountIs(3),
    prompt: "Remember that I like tea.",
  });
  assert.equal(result.text, "Noted.");
  // The second step has the same prompt as the first, although a memory was saved in between.
  const [first, second] = [promptOf(model, 2), promptOf(model)];
  assert.deepEqual(second.slice(0, first.length), first);
  assert.deepEqual(await turns(), [
    "user: Remember that I like tea.",
    "assistant: One moment.\nNoted.",
  ]);
  const [memory] = await client.memories.list().all();
  assert.deepEqual([memory?.content, memory?.session_id], ["Likes tea", "chat-1"]);
});

test("one wrapped model serves several users", async () => {
  const [alice, bob] = [newUser(), newUser()];
  await alice.client.memories.save("Has a cat");
  await bob.client.memories.save("Has a dog");
  const model = scriptedModel(["A pet."]);
  const wrapped = withLukasa(model, { waitUntil: alice.options.waitUntil });
  for (const [who, other] of [
    ["cat", "dog"],
    ["dog", "cat"],
  ]) {
    const { user } = who === "cat" ? alice : bob;
    const providerOptions = { lukasa: { user, session: "pets" } };
    await generateText({ model: wrapped, prompt: "Which pet do I have?", providerOptions });
    const prompt = promptOf(model).map(textOf).join();
    assert.match(prompt, new RegExp(`Has a ${who}`));
    assert.doesNotMatch(prompt, new RegExp(`Has a ${other}`));
  }
  await alice.settled();
  assert.equal((await alice.turns("pets")).length, 2);
  assert.equal((await bob.turns("pets")).length, 2);
});

test("chat without a session id stays one session", async () => {
  const { options, client, settled } = newUser();
  const messages: Message[] = [];
  for (const question of ["Good morning!", "And good night."]) {
    messages.push({ role: "user", content: question });
    const model = withLukasa(scriptedModel(["Hi."]), { ...options, session: undefined });
    await generateText({ model, messages: messages as never });
    messages.push({ role: "assistant", content: "Hi." });
  }
  await settled();
  const sessions = await client.sessions.list().all();
  assert.deepEqual(
    sessions.map(({ turns }) => turns),
    [4],
  );
});

test("modes read-only and off", async () => {
  const { client, options, turns } = newUser();
  await client.memories.save("Has a cat");
  const model = scriptedModel(["A cat."]);
  const ask = (mode: "read-only" | "off") =>
    generateText({ model: withLukasa(model, { ...options, mode }), prompt: "Which pet have I?" });
  await ask("read-only");
  assert.match(promptOf(model).map(textOf).join(), /Has a cat/);
  const off = await ask("off");
  assert.deepEqual(promptOf(model).map(textOf), ["Which pet have I?"]);
  assert.equal(metadataOf(off.providerMetadata), undefined);
  assert.deepEqual(await turns(), []);
});

test("chat continues without memory and reports it", async () => {
  const prompt = "Are you there?";
  const dead = { url: "http://127.0.0.1:1", user: "alice", session: "chat-1" };
  const model = scriptedModel(["I am."]);
  const result = await generateText({ model: withLukasa(model, dead), prompt });
  assert.equal(result.text, "I am.");
  assert.deepEqual(promptOf(model).map(textOf), [prompt]);
  assert.deepEqual(metadataOf(result.providerMetadata).degraded, ["unreachable"]);

  const stream = streamText({ model: withLukasa(scriptedModel(["I am."]), dead), prompt });
  assert.equal(await stream.text, "I am.");
  assert.deepEqual(metadataOf(await stream.providerMetadata).degraded, ["unreachable"]);

  const errors: unknown[] = [];
  const work: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>) => void work.push(promise);
  const onError = (error: unknown) => void errors.push(error);
  const reporting = withLukasa(scriptedModel(["I am."]), { ...dead, onError, waitUntil });
  await generateText({ model: reporting, prompt });
  await Promise.all(work);
  assert.equal(
    errors.length,
    2,
    "onError is called for the failed retrieval and the failed storing",
  );

  const strict = withLukasa(scriptedModel(["I am."]), { ...dead, onError: "throw" });
  await assert.rejects(generateText({ model: strict, prompt, maxRetries: 0 }));
});

test("silent server is not waited for", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const model = withLukasa(scriptedModel(["I am."]), {
    url,
    user: "alice",
    retrieveTimeout: 200,
    mode: "read-only",
  });
  const from = Date.now();
  const result = await generateText({ model, prompt: "Are you there?" });
  assert.ok(Date.now() - from < 1500);
  assert.deepEqual(metadataOf(result.providerMetadata).degraded, ["timeout"]);
});

test("a chat of a project uses and stores nothing of another", async () => {
  const { client, options } = newUser();
  await client.memories.save({ content: "The launch is in Kourou", project: "apollo" });
  await client.memories.save({ content: "The launch is in Baikonur", project: "zeus" });
  const model = scriptedModel(["Noted."]);
  const ask = async (session: string, project?: string) => {
    const stored: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>) => void stored.push(work);
    const wrapped = withLukasa(model, { ...options, session, waitUntil });
    const providerOptions = { lukasa: project === undefined ? {} : { project } };
    await generateText({ model: wrapped, prompt: "Where is the launch?", providerOptions });
    await Promise.all(stored);
    return promptOf(model).map(textOf).join();
  };
  const apollo = await ask("in-apollo", "apollo");
  assert.match(apollo, /Kourou/);
  assert.doesNotMatch(apollo, /Baikonur/);
  assert.equal((await client.sessions.get("in-apollo")).project, "apollo");
  const plain = await ask("in-none");
  assert.doesNotMatch(plain, /Kourou|Baikonur/);
  assert.equal((await client.sessions.get("in-none")).project ?? null, null);
  // What was said in the chat of a project is found only there.
  const found = async (project: string) => {
    const query = { query: "Where is the launch?", turns: 10, min_relevance: 0 };
    const { turns } = await client.memories.recall(query, { project });
    return turns.map(({ turn }) => turn.session_id).sort();
  };
  assert.deepEqual(await found("apollo"), ["in-apollo", "in-none"]);
  assert.deepEqual(await found("zeus"), ["in-none"]);
});
