// A scripted model for tests with the OpenAI protocols: it answers with the memories it finds in its prompt,
// and calls `save_memory` when asked to remember something and the tool is available. Its last request is at
// GET /asked. Started as a program it prints its URL.
import { createServer } from "node:http";

const words = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");

/** The next step for a list of messages, in either protocol. */
function decide(messages, tools) {
  const userTexts = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => words(content));
  const all = messages.map(({ content }) => words(content)).join("\n");
  const wish = /remember that (.+?)[.!]?$/im.exec(userTexts.at(-1) ?? "")?.[1];
  const last = messages.at(-1);
  const isResult = last?.role === "tool" || last?.type === "function_call_output";
  const names = (tools ?? []).map((tool) => tool.name ?? tool.function?.name);
  if (wish && names.includes("save_memory") && !isResult) return { save: { content: wish } };
  if (isResult) return { text: `Done. ${words(last.content ?? last.output)}` };
  const lines = [...all.matchAll(/^- \[(m\d+)\] (.+)$/gm)].map(
    ([, mark, line]) => `${line} [${mark}]`,
  );
  return {
    text: lines.length > 0 ? `I remember: ${lines.join("; ")}` : "I know nothing about you.",
  };
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const spent = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

function chat({ messages, tools, stream }) {
  const { text, save } = decide(messages, tools);
  const base = { id: "chatcmpl-1", created: 1, model: "scripted" };
  const call = save && {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "save_memory", arguments: JSON.stringify(save) },
  };
  const finish_reason = call ? "tool_calls" : "stop";
  const message = { role: "assistant", content: text ?? null, ...(call && { tool_calls: [call] }) };
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason }];
    return { ...base, object: "chat.completion", choices, usage };
  }
  const deltas = call
    ? [{ tool_calls: [call] }]
    : text.split(/(?<= )/).map((content) => ({ content }));
  const choice = (delta, finish_reason = null) => ({ index: 0, delta, finish_reason });
  return [
    ...deltas.map((delta) => ({ ...base, choices: [choice({ role: "assistant", ...delta })] })),
    { ...base, choices: [choice({}, finish_reason)] },
    { ...base, choices: [], usage },
  ];
}

function responses({ input, tools, stream }) {
  const { text, save } = decide(input, tools);
  const response = { id: "resp_1", object: "response", created_at: 1, model: "scripted" };
  const item = save
    ? {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "save_memory",
        arguments: JSON.stringify(save),
        status: "completed",
      }
    : {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      };
  const done = { ...response, status: "completed", output: [item], usage: spent };
  if (!stream) return done;
  const started = save ? { ...item, arguments: "" } : { ...item, content: [] };
  const place = { item_id: item.id, output_index: 0 };
  const deltas = save
    ? [{ type: "response.function_call_arguments.delta", ...place, delta: item.arguments }]
    : text.split(/(?<= )/).map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        content_index: 0,
        delta,
      }));
  return [
    { type: "response.created", response },
    { type: "response.output_item.added", output_index: 0, item: started },
    ...deltas,
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: done },
  ];
}

let asked = null;

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const protocol = { "/v1/chat/completions": chat, "/v1/responses": responses }[request.url];
  if (protocol) asked = JSON.parse(body);
  const answer = protocol ? protocol(asked) : asked;
  if (!Array.isArray(answer)) {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify(answer));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of answer) response.write(`data: ${JSON.stringify(part)}\n\n`);
  response.end("data: [DONE]\n\n");
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
