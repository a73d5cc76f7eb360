import { type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import { type ContextView, Lukasa, LukasaError, type Retrieve, type Settings } from "lukasa-client";
import { projectOf } from "./project.ts";
import { answerSoFar, digest, lastOfUser, type Message, newsOf, place, textOf } from "./prompt.ts";

/** Cached contexts, one per message. */
const MAX_CACHED_CONTEXTS = 500;

type Wrapping = Parameters<typeof wrapLanguageModel>[0];

/**
 * Use of memory: `on` retrieves and stores, `read-only` only retrieves, `off` does neither.
 */
export type Mode = "on" | "read-only" | "off";

export interface LukasaOptions extends Settings {
  /** An existing client, instead of `url` and `key`. */
  client?: Lukasa;
  /**
   * Your own id for the chat. If absent it is derived from the user and the first message, so that a
   * chat stays one session although every request contains all of its messages.
   */
  session?: string;
  /**
   * The project that the chat is about. What belongs to it and to no project is used, and the chat belongs to
   * it; that of the client, or no project, if absent.
   */
  project?: string;
  /** `on` if absent. */
  mode?: Mode;
  /** Further retrieve options, such as `budget: "standard"` or the user's `timezone`. */
  retrieve?: Omit<Retrieve, "query" | "session_id" | "project">;
  /** Timeout of the retrieval, in milliseconds; 1,000 if absent. */
  retrieveTimeout?: number;
  /**
   * What to do when memory fails: `continue` (the default) answers without it, `throw` fails the call;
   * a function is called with the error, and the chat continues.
   */
  onError?: "continue" | "throw" | ((error: unknown) => void);
  /** Receives work that continues after the answer, for platforms that stop with the response. */
  waitUntil?: (work: Promise<unknown>) => void;
}

/** What memory did, in `providerMetadata.lukasa` of the answer. */
export interface LukasaMetadata {
  /** Number of memories in the prompt, and their tokens. */
  memories: number;
  tokens: number;
  session: string | null;
  retrieval_id: string | null;
  /** Unavailable parts of the server, or an error code if there was no context. */
  degraded: string[];
}

/** One call of the model, from the prompt to the stored turns. */
interface Round {
  user: string | undefined;
  project: string;
  session: string;
  stores: boolean;
  prompt: Message[];
  context: ContextView | undefined;
  metadata: LukasaMetadata;
}

// The common types of the SDK versions, as far as memory needs them.
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
 * Adds memory to a model: relevant memories are put into the prompt, and the chat is stored.
 *
 * ```ts
 * const model = withLukasa(openai("gpt-5-mini"), { user: "alice", session: "chat-42" });
 * ```
 *
 * One wrapped model can serve all users: set the user of each call in
 * `providerOptions: { lukasa: { user, session, project, mode } }`.
 */
export function withLukasa(
  model: Wrapping["model"],
  options: LukasaOptions = {},
): ReturnType<typeof wrapLanguageModel> {
  return wrapLanguageModel({ model, middleware: lukasaMiddleware(options) });
}

/** The middleware alone, for `wrapLanguageModel` with other middleware. */
export function lukasaMiddleware(options: LukasaOptions = {}): LanguageModelMiddleware {
  const lukasa = options.client ?? new Lukasa(options);
  const rounds = new WeakMap<object, Round>();
  // The contexts of the latest messages, for the steps of an answer that uses tools.
  const contexts = new Map<string, ContextView>();
  // Rounds of one chat are stored in the order in which they ended.
  const storing = new Map<string, Promise<unknown>>();

  const failed = (error: unknown) => {
    if (options.onError === "throw") throw error;
    if (typeof options.onError === "function") options.onError(error);
  };

  async function transformParams({ params }: { params: Params }): Promise<Params> {
    const round = await begin(lukasa, options, params);
    if (!round) return params;
    try {
      round.context = await contextFor(round, params.abortSignal);
      Object.assign(round.metadata, metadataOf(round.context));
    } catch (error) {
      if (params.abortSignal?.aborted) throw error;
      failed(error);
      round.metadata.degraded = [error instanceof LukasaError ? error.code : "unreachable"];
    }
    const { baseline, dynamic } = round.context ?? {};
    const prompt = place(params.prompt, baseline?.content ?? "", dynamic?.content ?? "");
    const transformed = { ...params, prompt };
    rounds.set(transformed, round);
    return transformed;
  }

  /** The context of a message stays the same while it is being answered, so that prompt caches hit. */
  async function contextFor(round: Round, signal: AbortSignal | undefined): Promise<ContextView> {
    const { user, project, session, prompt } = round;
    const last = lastOfUser(prompt);
    const message = JSON.stringify([user, project, session, last, textOf(prompt[last] as Message)]);
    const before = last < prompt.length - 1 ? contexts.get(message) : undefined;
    const context = before ?? (await retrieve(lukasa, options, round, signal));
    contexts.delete(message);
    contexts.set(message, context);
    const [oldest] = contexts.keys();
    if (oldest !== undefined && contexts.size > MAX_CACHED_CONTEXTS) contexts.delete(oldest);
    return context;
  }

  function finish(round: Round, params: Params, text: string, reason: string): void {
    // A model that stops for a tool call has not answered yet.
    if (!round.stores || reason === "tool-calls") return;
    const answer = params.responseFormat?.type === "json" ? "" : text;
    const chat = JSON.stringify([round.user, round.session]);
    const work = (storing.get(chat) ?? Promise.resolve())
      .then(() => store(lukasa, round, answer))
      .catch((error) => {
        if (typeof options.onError === "function") options.onError(error);
      })
      .finally(() => {
        if (storing.get(chat) === work) storing.delete(chat);
      });
    storing.set(chat, work);
    options.waitUntil?.(work);
  }

  async function wrapGenerate({ doGenerate, params }: Call<Generated>): Promise<Generated> {
    const result = await doGenerate();
    const round = rounds.get(params);
    if (!round) return result;
    const text = result.content.map((part) => (part.type === "text" ? (part.text ?? "") : ""));
    finish(round, params, text.join(""), result.finishReason.unified);
    return { ...result, ...withMetadata(result, round) };
  }

  async function wrapStream({ doStream, params }: Call<Streamed>): Promise<Streamed> {
    const result = await doStream();
    const round = rounds.get(params);
    if (!round) return result;
    let text = "";
    let reason = "interrupted";
    let ended = false;
    const end = () => {
      if (!ended) finish(round, params, text, reason);
      ended = true;
    };
    // An aborted answer is stored as far as it was streamed.
    params.abortSignal?.addEventListener("abort", end, { once: true });
    const transformer: Transformer<StreamPart, StreamPart> & { cancel?: () => void } = {
      transform(part, controller) {
        if (part.type === "text-delta") text += part.delta ?? "";
        if (part.type !== "finish") return controller.enqueue(part);
        reason = part.finishReason?.unified ?? reason;
        controller.enqueue({ ...part, ...withMetadata(part, round) });
      },
      flush: end,
      cancel: end,
    };
    return { ...result, stream: result.stream.pipeThrough(new TransformStream(transformer)) };
  }

  // Version 6 names this v3 and version 7 names it v4; neither checks it, and both call the same functions.
  const middleware = { specificationVersion: "v3", transformParams, wrapGenerate, wrapStream };
  return middleware as unknown as LanguageModelMiddleware;
}

interface Call<T> {
  doGenerate: () => PromiseLike<T>;
  doStream: () => PromiseLike<T>;
  params: Params;
}

/** Starts a round with its user and session; undefined without memory. */
async function begin(
  lukasa: Lukasa,
  options: LukasaOptions,
  params: Params,
): Promise<Round | undefined> {
  const own = (params.providerOptions?.lukasa ?? {}) as Pick<
    LukasaOptions,
    "user" | "session" | "project" | "mode"
  >;
  const mode = own.mode ?? options.mode ?? "on";
  const first = params.prompt.find((message) => message.role === "user");
  if (mode === "off" || !first) return undefined;
  const user = own.user ?? options.user;
  const project = projectOf(lukasa, own, options);
  // The same first message in two projects begins two chats: a session belongs to one project.
  const words = [user ?? "", textOf(first), ...(project ? [project] : [])];
  const session = own.session ?? options.session ?? `chat-${await digest(...words)}`;
  const metadata = { memories: 0, tokens: 0, session, retrieval_id: null, degraded: [] };
  return {
    user,
    project,
    session,
    stores: mode === "on",
    prompt: params.prompt,
    context: undefined,
    metadata,
  };
}

function retrieve(
  lukasa: Lukasa,
  options: LukasaOptions,
  round: Round,
  signal: AbortSignal | undefined,
): Promise<ContextView> {
  const timeout = options.retrieveTimeout ?? 1_000;
  const last = round.prompt[lastOfUser(round.prompt)];
  const query = last ? textOf(last).slice(0, 20_000) : "";
  // The server returns what it has shortly before the client would time out.
  const deadline_ms = Math.max(1, Math.floor(timeout * 0.8));
  const ask = { deadline_ms, ...options.retrieve, query, session_id: round.session };
  const { user, project } = round;
  return lukasa.memories.retrieve(ask, { user, project, signal, timeout, retries: 0 });
}

function metadataOf(context: ContextView): Partial<LukasaMetadata> {
  return {
    memories: context.baseline.citations.length + context.dynamic.citations.length,
    tokens: context.budget.used,
    retrieval_id: context.retrieval_id,
    degraded: context.degraded,
  };
}

function withMetadata(
  finished: Partial<Finished>,
  round: Round,
): Pick<Finished, "providerMetadata"> {
  return { providerMetadata: { ...finished.providerMetadata, lukasa: { ...round.metadata } } };
}

/**
 * Stores the new messages and the answer. The idempotency keys are derived from the chat so far, so that a
 * message that is answered twice is stored once, and so is each of its answers.
 */
async function store(lukasa: Lukasa, round: Round, text: string): Promise<void> {
  const { user, project, session, prompt, context } = round;
  const chat = prompt.slice(0, lastOfUser(prompt) + 1).map(textOf);
  const asked = newsOf(prompt).map((content) => ({ role: "user", content }));
  const append = async (turns: Parameters<typeof lukasa.sessions.append>[1], key: string) => {
    const idempotencyKey = `ai-sdk-${await digest(session, key, ...chat)}`;
    const options = { user, project, idempotencyKey, timeout: 10_000 };
    await lukasa.sessions.append(session, turns, options);
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
