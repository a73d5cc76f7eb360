/**
 * A chat model that learns just what a spec wants learned, so that the real server can be watched while
 * it learns from real chats. It looks for the words below in what the user said. What was put to it as a
 * riddle (`PUT /riddle`, the words) it answers with nonsense, until that is taken back (`DELETE /riddle`).
 *
 *     node test/learner.mjs PORT
 */
import { createServer } from "node:http";

/** Words that somebody may say, and what is learned from them. */
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

createServer(async (asked, answer) => {
  let body = "";
  for await (const chunk of asked) body += chunk;
  if (asked.url === "/riddle") {
    if (asked.method === "PUT") riddles.add(body);
    else riddles.delete(body);
    return answer.writeHead(204).end();
  }
  const { messages = [], response_format } = JSON.parse(body || "{}");
  const said = String(messages.at(-1)?.content ?? "");
  const told = answerTo(response_format?.json_schema?.name, said);
  const words = typeof told === "string" ? told : JSON.stringify(told);
  answer.writeHead(200, { "content-type": "application/json" });
  answer.end(
    JSON.stringify({
      id: "scripted",
      object: "chat.completion",
      model: "scripted",
      choices: [
        { index: 0, finish_reason: "stop", message: { role: "assistant", content: words } },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    }),
  );
}).listen(Number(process.argv[2]), "127.0.0.1");

function answerTo(what, said) {
  if (what === "title") return { title: titleOf(said) };
  if (what === "summary") return { summary: "They talked about this and that." };
  if (what === "sentences") return { sentences: [] };
  if ([...riddles].some((words) => said.includes(words))) return "I would rather not.";
  const news = said.slice(said.indexOf("New turns, to learn from:"));
  const memories = LEARNS.flatMap(([quote, { against, ...memory }]) => {
    const turn = [...news.matchAll(/^(\d+) user[^:]*: (.*)$/gm)].find((one) =>
      one[2].includes(quote),
    );
    if (!turn) return [];
    const evidence = [{ turn: Number(turn[1]), quote }];
    const known = against && new RegExp(`^(m\\d+): .*${against}`, "m").exec(said);
    const how = known ? { op: "update", target: known[1] } : { op: "add" };
    return [{ ...how, kind: "fact", importance: 7, confidence: 0.9, ...memory, evidence }];
  });
  // What is sensitive would keep the whole episode from being told.
  const told = memories[0]?.evidence[0].quote;
  const summary = told ? `The user mentioned: ${told}.` : "They talked about this and that.";
  return { title: titleOf(news), summary, memories };
}

/** The first words that the user said. */
function titleOf(said) {
  const first = /^\d+ user[^:]*: (.*)$/m.exec(said)?.[1] ?? "A chat";
  return first
    .split(/[.,?!]/)[0]
    .split(" ")
    .slice(0, 6)
    .join(" ");
}
