/**
 * Client of the chat gateway: requests a completion and reads its stream, including the events of memory
 * tools. `lukasa-client` covers the memory API only; the gateway streams the response of a POST.
 */
import { eventStream, type Lukasa, LukasaError } from "lukasa-client";
import { locale } from "../i18n/index.ts";

export interface Model {
  id: string;
  owned_by?: string;
}

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** How a chat uses memory: fully, read-only, or not at all. */
export type Mode = "on" | "read-only" | "off";

/** A request for an answer. */
export interface CompletionRequest {
  model: string;
  messages: readonly Message[];
  mode: Mode;
  session: string | null;
  signal: AbortSignal;
}

/** A memory tool call of a model, running or with its result. */
export interface ToolEvent {
  id: string;
  name: string;
  state: "running" | "done";
  arguments?: Record<string, unknown>;
  failed?: boolean;
  message?: string;
  result?: unknown;
  took_ms?: number;
}

/** An event of a streamed answer. */
export type StreamEvent =
  | { kind: "begun"; memories: number; retrieval: string | null; degraded: string[] }
  | { kind: "words"; text: string }
  | { kind: "tool"; tool: ToolEvent };

/** The name of the guide that answers where no model is set. */
const GUIDE = "lukasa/guide";

/** Whether the model is the scripted guide. */
export function isGuide(model: string | undefined): boolean {
  return model === GUIDE;
}

export async function models(lukasa: Lukasa, signal: AbortSignal): Promise<Model[]> {
  const response = await call(lukasa, "/v1/models", { signal });
  return ((await response.json()) as { data: Model[] }).data;
}

export async function* streamCompletion(
  lukasa: Lukasa,
  request: CompletionRequest,
): AsyncGenerator<StreamEvent, void, undefined> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "text/event-stream",
    "x-lukasa-mode": request.mode,
    "x-lukasa-tools": request.mode === "off" ? "off" : "on",
    "x-lukasa-show": "tools",
    // The guide answers in the language of the page.
    "accept-language": locale(),
  };
  if (request.session !== null) headers["x-lukasa-session"] = request.session;
  const body = JSON.stringify({ model: request.model, messages: request.messages, stream: true });
  const response = await call(lukasa, "/v1/chat/completions", {
    method: "POST",
    headers,
    body,
    signal: request.signal,
  });
  yield startEvent(response.headers);
  if (!response.body) return;
  for await (const message of eventStream(chunks(response.body))) {
    if (message.event === "lukasa.tool") {
      yield { kind: "tool", tool: JSON.parse(message.data) as ToolEvent };
      continue;
    }
    if (!message.data || message.data === "[DONE]") continue;
    const chunk = JSON.parse(message.data) as Chunk;
    if (chunk.error) throw toLukasaError(chunk.error, 502);
    const text = chunk.choices?.[0]?.delta?.content;
    if (text) yield { kind: "words", text };
  }
}

/**
 * Closes a chat, also while the page is unloaded: a `keepalive` request outlives its page, and unlike
 * `sendBeacon` it can carry the user header.
 */
export function beacon(lukasa: Lukasa, session: string): void {
  void call(lukasa, "/api/beacon", {
    method: "POST",
    keepalive: true,
    headers: { "content-type": "text/plain" },
    body: JSON.stringify({ session_id: session, has_new_turns: true }),
    // Best effort: a chat that is not closed now is closed after its idle time.
  }).catch(() => undefined);
}

interface Chunk {
  choices?: { delta?: { content?: string | null } }[];
  error?: { message?: string; code?: string | number | null };
}

function startEvent(headers: Headers): StreamEvent {
  const degraded = headers.get("lukasa-degraded");
  return {
    kind: "begun",
    memories: Number(headers.get("lukasa-memories") ?? 0),
    retrieval: headers.get("lukasa-retrieval"),
    degraded: degraded ? degraded.split(/,\s*/) : [],
  };
}

async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function call(lukasa: Lukasa, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const { user } = lukasa.settings;
  if (user !== undefined) headers.set("x-lukasa-user", bytes(user));
  let response: Response;
  try {
    response = await fetch(lukasa.url(path, {}), { ...init, headers });
  } catch (cause) {
    if (init.signal?.aborted) throw init.signal.reason;
    throw new LukasaError(
      { code: "unreachable", title: "The server did not answer" },
      undefined,
      cause,
    );
  }
  if (response.ok) return response;
  const requestId = response.headers.get("lukasa-request-id") ?? undefined;
  const body = (await response.json().catch(() => ({}))) as Chunk;
  throw toLukasaError(body.error ?? {}, response.status, requestId);
}

/** Converts an error of a chat service to a `LukasaError`. */
function toLukasaError(
  { message, code }: { message?: string; code?: string | number | null },
  status: number,
  requestId?: string,
): LukasaError {
  const title = message || `The model answered ${status}`;
  return new LukasaError({ code: String(code ?? "upstream"), title, status }, requestId);
}

/** Text encoded for a header: its UTF-8 bytes, each as one character. */
function bytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}
