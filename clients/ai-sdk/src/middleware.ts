import { type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import { type ContextView, Lukasa, LukasaError, type Retrieve, type Settings } from "lukasa-client";
import { answerSoFar, digest, lastOfUser, type Message, newsOf, place, textOf } from "./prompt.ts";

/** How many messages are remembered with what they were given. */
const MOST_GIVEN = 500;

type Wrapping = Parameters<typeof wrapLanguageModel>[0];

/**
 * What memory may do: `on` finds and keeps, `read-only` finds and keeps nothing, `off` stays out of it.
 */
export type Mode = "on" | "read-only" | "off";

export interface LukasaOptions extends Settings {
  /** A client that is there already, in place of `url` and `key`. */
  client?: Lukasa;
  /**
   * Your own id for the chat. If absent it is made from the person and the first words of the chat,
   * so that a chat stays one session though every request brings all of it again.
   */
  session?: string;
  /** `on` if absent. */
  mode?: Mode;
  /** What else to ask for, such as `budget: "standard"` or the person's `timezone`. */
  retrieve?: Omit<Retrieve, "query" | "session_id">;
  /** How long the chat waits for its memory, in milliseconds; 1,000 if absent. */
  wait?: number;
  /**
   * What to do when memory fails: `continue` (the default) answers without it, `throw` does not
   * answer; a function is told, and the chat goes on.
   */
  onError?: "continue" | "throw" | ((error: unknown) => void);
  /** Told of work that goes on behind the answer, for platforms that stop when it is out. */
  waitUntil?: (work: Promise<unknown>) => void;
}

/** What memory did, in `providerMetadata.lukasa` of the answer. */
export interface Told {
  /** How many memories went into the prompt, and how many tokens they took. */
  memories: number;
  tokens: number;
  session: string | null;
  retrieval_id: string | null;
  /** What had to be done without: parts of the server, or an error's code if nothing came of it. */
  degraded: string[];
}

/** One call of the model, from what was asked to what is kept. */
interface Round {
  user: string | undefined;
  session: string;
  keeps: boolean;
  prompt: Message[];
  context: ContextView | undefined;
  told: Told;
}

// What the versions have in common, as far as memory touches it.
interface Params {
  prompt: Message[];
  providerOptions?: Record<string, Record<string, unknown>>;
  responseFormat?: { type: string };
  abortSignal?: AbortSignal;
}
interface Finished {
  finishReason: { unified: string };
  providerMetadata?: Record<string, unknown>;
}
type Generated = Finished & { content: { type: string; text?: string }[] };
type StreamPart = Partial<Finished> & { type: string; delta?: string };
interface Streamed {
  stream: ReadableStream<StreamPart>;
}

/**
 * Gives a model memory: what is known about the person goes into the prompt, what is said is kept.
 *
 * ```ts
 * const model = withLukasa(openai("gpt-5-mini"), { user: "alice", session: "chat-42" });
 * ```
 *
 * One wrapped model can serve everybody: say whose chat it is with each call, in
 * `providerOptions: { lukasa: { user, session, mode } }`.
 */
export function withLukasa(
  model: Wrapping["model"],
  options: LukasaOptions = {},
): ReturnType<typeof wrapLanguageModel> {
  return wrapLanguageModel({ model, middleware: lukasaMiddleware(options) });
}

/** The same as middleware, for `wrapLanguageModel` with others beside it. */
export function lukasaMiddleware(options: LukasaOptions = {}): LanguageModelMiddleware {
  const lukasa = options.client ?? new Lukasa(options);
  const rounds = new WeakMap<object, Round>();
  // What the latest messages were given, for the steps of an answer that uses tools.
  const given = new Map<string, ContextView>();
  // Rounds of one chat are kept in the order in which they ended.
  const keeping = new Map<string, Promise<unknown>>();

  const failed = (error: unknown) => {
    if (options.onError === "throw") throw error;
    if (typeof options.onError === "function") options.onError(error);
  };

  async function transformParams({ params }: { params: Params }): Promise<Params> {
    const round = await begin(options, params);
    if (!round) return params;
    try {
      round.context = await contextFor(round, params.abortSignal);
      Object.assign(round.told, toldOf(round.context));
    } catch (error) {
      if (params.abortSignal?.aborted) throw error;
      failed(error);
      round.told.degraded = [error instanceof LukasaError ? error.code : "unreachable"];
    }
    const { baseline, dynamic } = round.context ?? {};
    const prompt = place(params.prompt, baseline?.content ?? "", dynamic?.content ?? "");
    const transformed = { ...params, prompt };
    rounds.set(transformed, round);
    return transformed;
  }

  /** The context of a message stays what it was while it is being answered, so that caches keep hitting. */
  async function contextFor(round: Round, signal: AbortSignal | undefined): Promise<ContextView> {
    const { user, session, prompt } = round;
    const last = lastOfUser(prompt);
    const message = JSON.stringify([user, session, last, textOf(prompt[last] as Message)]);
    const before = last < prompt.length - 1 ? given.get(message) : undefined;
    const context = before ?? (await retrieve(lukasa, options, round, signal));
    given.delete(message);
    given.set(message, context);
    const [oldest] = given.keys();
    if (oldest !== undefined && given.size > MOST_GIVEN) given.delete(oldest);
    return context;
  }

  function over(round: Round, params: Params, text: string, reason: string): void {
    // A model that stops to use a tool has not answered yet.
    if (!round.keeps || reason === "tool-calls") return;
    const answer = params.responseFormat?.type === "json" ? "" : text;
    const chat = JSON.stringify([round.user, round.session]);
    const work = (keeping.get(chat) ?? Promise.resolve())
      .then(() => keep(lukasa, round, answer))
      .catch((error) => {
        if (typeof options.onError === "function") options.onError(error);
      })
      .finally(() => {
        if (keeping.get(chat) === work) keeping.delete(chat);
      });
    keeping.set(chat, work);
    options.waitUntil?.(work);
  }

  async function wrapGenerate({ doGenerate, params }: Call<Generated>): Promise<Generated> {
    const result = await doGenerate();
    const round = rounds.get(params);
    if (!round) return result;
    const text = result.content.map((part) => (part.type === "text" ? (part.text ?? "") : ""));
    over(round, params, text.join(""), result.finishReason.unified);
    return { ...result, ...tell(result, round) };
  }

  async function wrapStream({ doStream, params }: Call<Streamed>): Promise<Streamed> {
    const result = await doStream();
    const round = rounds.get(params);
    if (!round) return result;
    let text = "";
    let reason = "interrupted";
    let ended = false;
    const end = () => {
      if (!ended) over(round, params, text, reason);
      ended = true;
    };
    // Somebody who stops the answer has read what came of it.
    params.abortSignal?.addEventListener("abort", end, { once: true });
    const listening: Transformer<StreamPart, StreamPart> & { cancel?: () => void } = {
      transform(part, controller) {
        if (part.type === "text-delta") text += part.delta ?? "";
        if (part.type !== "finish") return controller.enqueue(part);
        reason = part.finishReason?.unified ?? reason;
        controller.enqueue({ ...part, ...tell(part, round) });
      },
      flush: end,
      cancel: end,
    };
    return { ...result, stream: result.stream.pipeThrough(new TransformStream(listening)) };
  }

  // Version 6 calls this v3 and version 7 calls it v4; neither asks, and both call the same functions.
  const middleware = { specificationVersion: "v3", transformParams, wrapGenerate, wrapStream };
  return middleware as unknown as LanguageModelMiddleware;
}

interface Call<T> {
  doGenerate: () => PromiseLike<T>;
  doStream: () => PromiseLike<T>;
  params: Params;
}

/** Whose chat this is, and whether memory has a part in it. */
async function begin(options: LukasaOptions, params: Params): Promise<Round | undefined> {
  const said = (params.providerOptions?.lukasa ?? {}) as Pick<
    LukasaOptions,
    "user" | "session" | "mode"
  >;
  const mode = said.mode ?? options.mode ?? "on";
  const first = params.prompt.find((message) => message.role === "user");
  if (mode === "off" || !first) return undefined;
  const user = said.user ?? options.user;
  const session =
    said.session ?? options.session ?? `chat-${await digest(user ?? "", textOf(first))}`;
  const told = { memories: 0, tokens: 0, session, retrieval_id: null, degraded: [] };
  return { user, session, keeps: mode === "on", prompt: params.prompt, context: undefined, told };
}

function retrieve(
  lukasa: Lukasa,
  options: LukasaOptions,
  round: Round,
  signal: AbortSignal | undefined,
): Promise<ContextView> {
  const wait = options.wait ?? 1_000;
  const last = round.prompt[lastOfUser(round.prompt)];
  const query = last ? textOf(last).slice(0, 20_000) : "";
  // The server gives what it has at hand a little before the chat would stop waiting for it.
  const deadline_ms = Math.max(1, Math.floor(wait * 0.8));
  const ask = { deadline_ms, ...options.retrieve, query, session_id: round.session };
  return lukasa.memories.retrieve(ask, { user: round.user, signal, timeout: wait, retries: 0 });
}

function toldOf(context: ContextView): Partial<Told> {
  return {
    memories: context.baseline.citations.length + context.dynamic.citations.length,
    tokens: context.budget.used,
    retrieval_id: context.retrieval_id,
    degraded: context.degraded,
  };
}

function tell(finished: Partial<Finished>, round: Round): Pick<Finished, "providerMetadata"> {
  return { providerMetadata: { ...finished.providerMetadata, lukasa: { ...round.told } } };
}

/**
 * Keeps what was said. The keys are made from the chat up to here, so that a message that is
 * answered twice is kept once, and each of its answers too.
 */
async function keep(lukasa: Lukasa, round: Round, text: string): Promise<void> {
  const { user, session, prompt, context } = round;
  const chat = prompt.slice(0, lastOfUser(prompt) + 1).map(textOf);
  const asked = newsOf(prompt).map((content) => ({ role: "user", content }));
  const append = async (turns: Parameters<typeof lukasa.sessions.append>[1], key: string) => {
    const idempotencyKey = `ai-sdk-${await digest(session, key, ...chat)}`;
    await lukasa.sessions.append(session, turns, { user, idempotencyKey, timeout: 10_000 });
  };
  if (asked.length > 0) await append(asked, "asked");
  const content = [...answerSoFar(prompt), text].filter((text) => text !== "").join("\n");
  if (!content) return;
  const citations = [...(context?.baseline.citations ?? []), ...(context?.dynamic.citations ?? [])];
  const used = citations
    .filter(({ mark, memory_id }) => memory_id && content.includes(`[${mark}]`))
    .map(({ memory_id }) => memory_id as string);
  const retrieval_id = context?.retrieval_id;
  await append({ role: "assistant", content, used: [...new Set(used)], retrieval_id }, content);
}
