/**
 * A scripted model for tests: an OpenAI-compatible service that streams slowly, calls the memory tools it
 * is offered, and answers with an error on request.
 *
 *     node test/model.mjs PORT
 */
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const [port] = process.argv.slice(2);
const MODELS = ["llama-3.3-70b", "qwen3-8b"];
/** The latest chat request received from the gateway; served at `/last`. */
let last = {};

createServer(async (asked, answer) => {
  if (asked.url === "/v1/models") {
    return json(answer, { object: "list", data: MODELS.map((id) => ({ id, object: "model" })) });
  }
  if (asked.url === "/last") return json(answer, last);
  let body = "";
  for await (const piece of asked) body += piece;
  last = JSON.parse(body);
  const step = next(last);
  if (step.broken) {
    return json(
      answer,
      { error: { message: "The model is overloaded", code: "server_error" } },
      500,
    );
  }
  answer.writeHead(200, { "content-type": "text/event-stream" });
  if (step.call) {
    const [name, args] = step.call;
    const call = { name, arguments: JSON.stringify(args) };
    const tool_calls = [{ index: 0, id: "call_1", type: "function", function: call }];
    send(answer, { role: "assistant", content: null, tool_calls }, null);
    send(answer, {}, "tool_calls");
  } else {
    for (const word of step.say.match(/\S+\s*/g) ?? []) {
      if (answer.destroyed) return;
      send(answer, { content: word }, null);
      await pause(step.slow ?? 4);
    }
    send(answer, {}, "stop");
  }
  answer.end("data: [DONE]\n\n");
}).listen(Number(port), "127.0.0.1");

function json(answer, data, status = 200) {
  answer.writeHead(status, { "content-type": "application/json" });
  answer.end(JSON.stringify(data));
}

function send(answer, delta, finish_reason) {
  const choices = [{ index: 0, delta, finish_reason }];
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", choices };
  answer.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** The next step of the script, chosen by the last message. */
function next({ messages, tools = [] }) {
  const said = messages.at(-1);
  const question = text(messages.findLast((one) => one.role === "user"));
  const offered = (name) => tools.some((tool) => tool.function.name === name);
  if (said.role === "tool") return { say: replyTo(question, text(said)) };
  if (/overload/i.test(question)) return { broken: true };
  if (/long story/i.test(question)) {
    return { say: "Once upon a time there was a board with beads. ".repeat(80), slow: 25 };
  }
  if (/diagnosed/i.test(question) && offered("save_memory")) {
    const args = { content: "Has type 2 diabetes", domain: "health" };
    return { call: ["save_memory", args] };
  }
  if (/retirement at 50/i.test(question) && offered("save_memory")) {
    return { call: ["save_memory", { content: "Retirement target: age 50" }] };
  }
  if (/actually 55/i.test(question) && offered("update_memory")) {
    const args = { id: "Retirement target", content: "Retirement target: age 55" };
    return { call: ["update_memory", args] };
  }
  if (/now it is/i.test(question) && offered("update_memory")) {
    // A system message names the memory that the conversation is about, with its id.
    const known = messages
      .filter((one) => one.role === "system")
      .map(text)
      .join("\n");
    const id = /Its id is (mem_\w+)/.exec(known)?.[1] ?? "";
    const content = question.replace(/^.*now it is:?\s*/is, "");
    return { call: ["update_memory", { id, content }] };
  }
  if (/what do you know|plan/i.test(question) && offered("recall_memories")) {
    return { call: ["recall_memories", { query: "retirement savings plan" }] };
  }
  return { say: "Hello. What shall we talk about?" };
}

function replyTo(question, outcome) {
  if (/50/.test(question))
    return "Noted: you want to stop working at **50**. I will plan with that.";
  if (/55/.test(question)) return "Changed to **55**. That gives you five more years of saving.";
  if (/diagnosed/.test(question)) return "I did not keep that. You decide whether health is open.";
  if (/now it is/i.test(question)) return "Done. I have changed this one memory.";
  const marks = /mem_\w+/.exec(outcome)?.[0];
  return [
    `Here is a plan that fits what I know about you${marks ? ` (${marks})` : ""}:`,
    "",
    "1. Put **20 %** of every month's pay into one index fund",
    "2. Keep six months of rent aside",
    "3. Look at it once a year, not more often",
    "",
    "As a formula:",
    "",
    "```",
    "saved = 12 * years * 0.2 * pay",
    "```",
    "",
    "Shall I work it out with `1,900 €` a month?",
  ].join("\n");
}

function text(message) {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}
