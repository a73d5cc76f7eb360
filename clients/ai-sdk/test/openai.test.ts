// The official OpenAI provider, against a scripted model that answers from its prompt.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText } from "ai";
import { lukasaTools, withLukasa } from "lukasa-ai-sdk";
import { newUser } from "./chat.ts";

const models = { responses: openai("scripted"), chat: openai.chat("scripted") };
const prompt = "Where do I sit on a plane?";

for (const [protocol, plain] of Object.entries(models)) {
  test(`memory reaches the model over ${protocol}, streamed and not`, async () => {
    const { client, options, turns } = newUser();
    assert.equal((await generateText({ model: plain, prompt })).text, "I know nothing about you.");
    await client.memories.save("Prefers window seats");
    const model = withLukasa(plain, options);
    const { text } = await generateText({ model, prompt });
    assert.match(text, /^I remember: .*Prefers window seats.*\[m1\]/);
    assert.equal(await streamText({ model, prompt }).text, text);
    assert.deepEqual(await turns(), [`user: ${prompt}`, `assistant: ${text}`]);
    // The unwrapped model has no memory.
    assert.equal((await generateText({ model: plain, prompt })).text, "I know nothing about you.");
  });

  test(`tools are called over ${protocol}, streamed and not`, async () => {
    const { client, options } = newUser();
    const tools = lukasaTools({ client });
    const stopWhen = stepCountIs(3);
    const model = withLukasa(plain, options);
    const asking = (wish: string) => ({ model, tools, stopWhen, prompt: `Remember that ${wish}.` });
    const { text } = await generateText(asking("I like tea"));
    assert.match(text, /^Done\. Saved: I like tea \(mem_/);
    const streamed = await streamText(asking("I like cake")).text;
    assert.match(streamed, /^Done\. Saved: I like cake \(mem_/);
    const contents = (await client.memories.list().all()).map(({ content }) => content);
    assert.deepEqual(contents, ["I like cake", "I like tea"]);
  });
}
