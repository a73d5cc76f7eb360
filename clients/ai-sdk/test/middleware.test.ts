// A model with memory, against the real server.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { generateText, stepCountIs, streamText } from "ai";
import { lukasaTools, type Told, withLukasa } from "lukasa-ai-sdk";
import { asked, type Message, saying, somebody, system, textOf, version } from "./chat.ts";

const specs = version === 7 ? ["V3", "V4"] : ["V3"];
const told = (metadata: Record<string, unknown> | undefined) => metadata?.lukasa as Told;

for (const spec of specs) {
  test(`memory stands where it belongs (${spec})`, async () => {
    const { client, options } = somebody();
    await client.memories.save({ content: "Prefers window seats", domain: "travel" });
    const model = saying(["By the window."], { spec });
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
    const prompt = asked(model);
    assert.deepEqual(
      prompt.map(({ role }) => role),
      ["system", "user", "assistant", "user"],
    );
    assert.match(textOf(prompt[0]), /^Be brief\.\n\n<memory nonce/);
    assert.equal(textOf(prompt[1]), "Hello");
    assert.equal(textOf(prompt[3]), "Where do I sit on a plane?");
    assert.match(prompt.map(textOf).join(), /Prefers window seats/);
    // What is new since the chat began stands right before what was said last, and only there.
    await client.memories.save({ content: "Flies with a cat", domain: "travel" });
    await generateText({ model: withLukasa(model, options), ...system("Be brief."), messages });
    const later = asked(model);
    assert.deepEqual(later.slice(0, 3), prompt.slice(0, 3));
    assert.match(
      textOf(later[3]),
      /^<memory-now [^|]*Flies with a cat[^|]*\|Where do I sit on a plane\?$/,
    );
    const lukasa = told(result.providerMetadata);
    assert.ok(lukasa.memories >= 1 && lukasa.tokens > 0);
    assert.match(lukasa.retrieval_id ?? "", /^ret_/);
    assert.deepEqual([lukasa.session, lukasa.degraded], ["chat-1", []]);
  });
}

/** A chat of some turns, in which something new is saved before each: what stood in the system prompt. */
async function chat(retrieve: { freeze?: boolean }): Promise<Set<string>> {
  const { client, options } = somebody();
  await client.memories.save({ content: "Lives in Lisbon", category: "profile" });
  const model = saying(["Yes."]);
  const messages: Message[] = [];
  const baselines = new Set<string>();
  for (let turn = 0; turn < 6; turn++) {
    await client.memories.save({ content: `Has visited town number ${turn}`, category: "profile" });
    messages.push({ role: "user", content: `Do you know town number ${turn}?` });
    const wrapped = withLukasa(model, { ...options, retrieve });
    await generateText({ model: wrapped, messages: messages as never });
    messages.push({ role: "assistant", content: "Yes." });
    baselines.add(textOf(asked(model)[0]));
  }
  return baselines;
}

test("the system prompt stays the same, byte for byte, though memory grows", async () => {
  assert.equal((await chat({})).size, 1);
});

test("the check notices a system prompt that changes", async () => {
  assert.ok((await chat({ freeze: false })).size > 1);
});

test("what is said is kept once, though each request brings all of it again", async () => {
  const { options, turns, settled } = somebody();
  const messages: Message[] = [];
  for (const question of ["My name is Ada.", "What is my name?", "Thank you."]) {
    messages.push({ role: "user", content: question });
    const answer = `On "${question}"`;
    const model = withLukasa(saying([answer]), options);
    await generateText({ model, messages: messages as never });
    messages.push({ role: "assistant", content: answer });
    await settled();
  }
  const kept = messages.map(({ role, content }) => `${role}: ${content}`);
  assert.deepEqual(await turns(), kept);
  // Answered once more: the answer is new, the question is not.
  const again = withLukasa(saying(["You are welcome."]), options);
  await generateText({ model: again, messages: messages.slice(0, -1) as never });
  assert.deepEqual(await turns(), [...kept, "assistant: You are welcome."]);
  assert.ok(kept.every((turn) => !turn.includes("<memory")));
});

test("a stream passes as it is, and is kept", async () => {
  const { client, options, turns } = somebody();
  await client.memories.save("Prefers window seats");
  const said = "You sit by the window [m1], of course.";
  const plain = saying([said]);
  const model = saying([said]);
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
  assert.ok(told(await result.providerMetadata).memories >= 1);
  assert.deepEqual(await turns(), [`user: ${prompt}`, `assistant: ${said}`]);
  // What it cited is what it relied on.
  const why = await client.sessions.why("chat-1", 2);
  const cited = why.memories.filter(({ how }) => how === "cited");
  assert.deepEqual(
    cited.map(({ memory }) => memory.content),
    ["Prefers window seats"],
  );
});

test("an answer that is stopped is kept as far as it came", async () => {
  const { options, turns } = somebody();
  const model = saying(["One two three four five six."], { pause: 30 });
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
    // Version by version the stream ends or breaks off; either is right.
  }
  await new Promise((done) => setTimeout(done, 100));
  const [question, answer, ...more] = await turns();
  assert.equal(question, "user: Count.");
  assert.match(answer ?? "", /^assistant: One two/);
  assert.doesNotMatch(answer ?? "", /six/);
  assert.deepEqual(more, []);
});

test("steps with tools are one answer", async () => {
  const { options, client, turns } = somebody();
  const input = { content: "Likes tea" };
  const model = saying([{ tool: "save_memory", input, words: "One moment." }, "Noted."]);
  const result = await generateText({
    model: withLukasa(model, options),
    tools: lukasaTools(options),
    stopWhen: stepCountIs(3),
    prompt: "Remember that I like tea.",
  });
  assert.equal(result.text, "Noted.");
  // The second step saw the same words as the first, though something was saved in between.
  const [first, second] = [asked(model, 2), asked(model)];
  assert.deepEqual(second.slice(0, first.length), first);
  assert.deepEqual(await turns(), [
    "user: Remember that I like tea.",
    "assistant: One moment.\nNoted.",
  ]);
  const [memory] = await client.memories.list().all();
  assert.deepEqual([memory?.content, memory?.session_id], ["Likes tea", "chat-1"]);
});

test("one model serves everybody, each with their own memory", async () => {
  const [alice, bob] = [somebody(), somebody()];
  await alice.client.memories.save("Has a cat");
  await bob.client.memories.save("Has a dog");
  const model = saying(["A pet."]);
  const wrapped = withLukasa(model, { waitUntil: alice.options.waitUntil });
  for (const [who, other] of [
    ["cat", "dog"],
    ["dog", "cat"],
  ]) {
    const { user } = who === "cat" ? alice : bob;
    const providerOptions = { lukasa: { user, session: "pets" } };
    await generateText({ model: wrapped, prompt: "Which pet do I have?", providerOptions });
    const prompt = asked(model).map(textOf).join();
    assert.match(prompt, new RegExp(`Has a ${who}`));
    assert.doesNotMatch(prompt, new RegExp(`Has a ${other}`));
  }
  await alice.settled();
  assert.equal((await alice.turns("pets")).length, 2);
  assert.equal((await bob.turns("pets")).length, 2);
});

test("a chat without a name stays one chat", async () => {
  const { options, client, settled } = somebody();
  const messages: Message[] = [];
  for (const question of ["Good morning!", "And good night."]) {
    messages.push({ role: "user", content: question });
    const model = withLukasa(saying(["Hi."]), { ...options, session: undefined });
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

test("modes", async () => {
  const { client, options, turns } = somebody();
  await client.memories.save("Has a cat");
  const model = saying(["A cat."]);
  const ask = (mode: "read-only" | "off") =>
    generateText({ model: withLukasa(model, { ...options, mode }), prompt: "Which pet have I?" });
  await ask("read-only");
  assert.match(asked(model).map(textOf).join(), /Has a cat/);
  const off = await ask("off");
  assert.deepEqual(asked(model).map(textOf), ["Which pet have I?"]);
  assert.equal(told(off.providerMetadata), undefined);
  assert.deepEqual(await turns(), []);
});

test("without memory the chat goes on, and says so", async () => {
  const prompt = "Are you there?";
  const dead = { url: "http://127.0.0.1:1", user: "alice", session: "chat-1" };
  const model = saying(["I am."]);
  const result = await generateText({ model: withLukasa(model, dead), prompt });
  assert.equal(result.text, "I am.");
  assert.deepEqual(asked(model).map(textOf), [prompt]);
  assert.deepEqual(told(result.providerMetadata).degraded, ["unreachable"]);

  const stream = streamText({ model: withLukasa(saying(["I am."]), dead), prompt });
  assert.equal(await stream.text, "I am.");
  assert.deepEqual(told(await stream.providerMetadata).degraded, ["unreachable"]);

  const errors: unknown[] = [];
  const work: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>) => void work.push(promise);
  const onError = (error: unknown) => void errors.push(error);
  const telling = withLukasa(saying(["I am."]), { ...dead, onError, waitUntil });
  await generateText({ model: telling, prompt });
  await Promise.all(work);
  assert.equal(errors.length, 2, "it is told that nothing was found, and that nothing was kept");

  const strict = withLukasa(saying(["I am."]), { ...dead, onError: "throw" });
  await assert.rejects(generateText({ model: strict, prompt, maxRetries: 0 }));
});

test("a memory that does not answer is not waited for", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const model = withLukasa(saying(["I am."]), { url, user: "alice", wait: 200, mode: "read-only" });
  const from = Date.now();
  const result = await generateText({ model, prompt: "Are you there?" });
  assert.ok(Date.now() - from < 1500);
  assert.deepEqual(told(result.providerMetadata).degraded, ["timeout"]);
});
