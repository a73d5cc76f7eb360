// Shared by the tests: scripted models, and clients of the real server.
import { after } from "node:test";
import * as mocks from "ai/test";
import type { withLukasa } from "lukasa-ai-sdk";
import { Lukasa, type TurnView } from "lukasa-client";

export const version = Number(process.env.AI_VERSION);

type Model = Parameters<typeof withLukasa>[0];
export interface Message {
  role: string;
  content: string | { type: string; text?: string }[];
}
/** A model that records its calls. */
export type Mock = Model & { doGenerateCalls: ModelCall[]; doStreamCalls: ModelCall[] };
interface ModelCall {
  prompt: Message[];
}

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
const usage = { inputTokens: tokens, outputTokens: tokens };

/** One scripted answer: a text, or a tool call, optionally with text before it. */
export type ScriptedAnswer = string | { tool: string; input: object; words?: string };

function generated(answer: ScriptedAnswer) {
  const call = typeof answer === "string" ? undefined : answer;
  const words = typeof answer === "string" ? answer : answer.words;
  const content = [];
  if (words) content.push({ type: "text", text: words });
  if (call) {
    const input = JSON.stringify(call.input);
    content.push({ type: "tool-call", toolCallId: "1", toolName: call.tool, input });
  }
  const finishReason = { unified: call ? "tool-calls" : "stop", raw: undefined };
  return { content, finishReason, usage, warnings: [] };
}

function streamed(answer: ScriptedAnswer, pause = 0) {
  const { content, finishReason } = generated(answer);
  const parts =
    typeof answer === "string"
      ? [
          { type: "text-start", id: "1" },
          ...answer.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta })),
          { type: "text-end", id: "1" },
        ]
      : content;
  const chunks = [
    { type: "stream-start", warnings: [] },
    ...parts,
    { type: "finish", finishReason, usage },
  ];
  const stream = new ReadableStream({
    async start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(chunk);
        if (pause) await new Promise((done) => setTimeout(done, pause));
      }
      controller.close();
    },
  });
  return { stream };
}

/** A model with these answers, one for each call. In version 7 both kinds of models are tested. */
export function scriptedModel(
  answers: ScriptedAnswer[],
  { spec = version === 7 ? "V4" : "V3", pause = 0 } = {},
): Mock {
  const kinds = mocks as unknown as Record<string, new (settings: object) => Mock>;
  const Kind = kinds[`MockLanguageModel${spec}`];
  if (!Kind) throw new Error(`there is no mock for ${spec}`);
  let calls = 0;
  const next = () => answers[Math.min(calls++, answers.length - 1)] ?? "";
  return new Kind({
    doGenerate: async () => generated(next()),
    doStream: async () => streamed(next(), pause),
  });
}

/** The prompt of a call of the model, counted from the end. */
export function promptOf(model: Mock, back = 1): Message[] {
  return [...model.doGenerateCalls, ...model.doStreamCalls].at(-back)?.prompt ?? [];
}

export function textOf(message: Message | undefined): string {
  if (!message) return "";
  const { content } = message;
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("|");
}

/** The system prompt under its name in this version. */
export const system = (text: string): Record<string, string> =>
  version === 7 ? { instructions: text } : { system: text };

/** A new user, a client for them, and a function that waits for work after the answer. */
export function newUser() {
  const user = `user-${crypto.randomUUID()}`;
  const client = new Lukasa({ user });
  const work: Promise<unknown>[] = [];
  const settled = () => Promise.all(work);
  const options = {
    user,
    session: "chat-1",
    waitUntil: (promise: Promise<unknown>) => void work.push(promise),
  };
  after(settled);
  const turns = async (session = "chat-1"): Promise<string[]> => {
    await settled();
    const all: TurnView[] = await client.sessions
      .turns(session)
      .all()
      .catch(() => []);
    return all.map(({ role, content }) => `${role}: ${content}`);
  };
  return { user, client, options, settled, turns };
}
