/**
 * A scripted chat model for extraction: it finds the sentences below in the turns of the user and returns
 * the memory of each, so that specs run against a server that really learns. Turns that contain the text
 * of a riddle (`PUT /riddle`) are answered with nonsense, until it is removed (`DELETE /riddle`).
 *
 *     node test/learner.mjs PORT
 */
import { createServer } from "node:http";

/** Sentences of the user, and the memory that is learned from each. */
const LEARNS = [
  ["we moved into a flat in Lisbon", { content: "User lives in a flat in Lisbon." }],
  ["I work nights as a nurse", { content: "User works nights as a nurse.", importance: 8 }],
  [
    "I fly to Porto every other Friday",
    { content: "User flies to Porto every other Friday.", kind: "habit" },
  ],
  [
    "I like my answers short",
    { content: "User likes short answers.", kind: "preference", importance: 7 },
  ],
  [
    "my sister Ana is getting married in May",
    { content: "User's sister Ana is getting married in May.", kind: "relationship" },
  ],
  [
    "I might take up rowing",
    { content: "User might take up rowing.", kind: "project", confidence: 0.15 },
  ],
  [
    "I drink two coffees before a shift",
    { content: "User drinks two coffees before a shift.", kind: "habit", confidence: 0.15 },
  ],
  [
    "I am vegetarian now",
    { content: "User is vegetarian.", kind: "preference", against: "eats fish" },
  ],
  [
    "I was diagnosed with type 2 diabetes",
    { content: "User was diagnosed with type 2 diabetes.", domain: "health" },
  ],
];

const riddles = new Set();

createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  if (request.url === "/riddle") {
    if (request.method === "PUT") riddles.add(body);
    else riddles.delete(body);
    return response.writeHead(204).end();
  }
  const { messages = [], response_format } = JSON.parse(body || "{}");
  const prompt = String(messages.at(-1)?.content ?? "");
  const answer = answerTo(response_format?.json_schema?.name, prompt);
  const content = typeof answer === "string" ? answer : JSON.stringify(answer);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: "scripted",
      object: "chat.completion",
      model: "scripted",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    }),
  );
}).listen(Number(process.argv[2]), "127.0.0.1");

function answerTo(schema, prompt) {
  if (schema === "title") return { title: titleOf(prompt) };
  if (schema === "summary") return { summary: "They talked about this and that." };
  if (schema === "sentences") return { sentences: [] };
  if ([...riddles].some((words) => prompt.includes(words))) return "I would rather not.";
  const news = prompt.slice(prompt.indexOf("New turns, to learn from:"));
  const memories = LEARNS.flatMap(([quote, { against, ...memory }]) => {
    const turn = [...news.matchAll(/^(\d+) user[^:]*: (.*)$/gm)].find((one) =>
      one[2].includes(quote),
    );
    if (!turn) return [];
    const evidence = [{ turn: Number(turn[1]), quote }];
    const known = against && new RegExp(`^(m\\d+): .*${against}`, "m").exec(prompt);
    const how = known ? { op: "update", target: known[1] } : { op: "add" };
    return [{ ...how, kind: "fact", importance: 7, confidence: 0.9, ...memory, evidence }];
  });
  // Only the first quote: a sensitive one in the summary would keep the whole episode from being shown.
  const quote = memories[0]?.evidence[0].quote;
  const summary = quote ? `The user mentioned: ${quote}.` : "They talked about this and that.";
  return { title: titleOf(news), summary, memories };
}

/** The first words of the user, as a title. */
function titleOf(turns) {
  const first = /^\d+ user[^:]*: (.*)$/m.exec(turns)?.[1] ?? "A chat";
  return first
    .split(/[.,?!]/)[0]
    .split(" ")
    .slice(0, 6)
    .join(" ");
}
