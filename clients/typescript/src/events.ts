import { LukasaError } from "./error.ts";
import type { OperationView } from "./openapi.ts";
import { pause, type Transport } from "./transport.ts";
import type { Options } from "./types.ts";

/** A live event: one for each operation. */
export interface LiveEvent {
  /** The position in the stream: pass it as `after` to continue from here. */
  id: string;
  /** The verb of the operation, such as `save`. */
  verb: string;
  /** The operation, which can be undone. */
  operation: OperationView;
}

/** Start and end of the stream, besides the options of any call. */
export interface EventOptions
  extends Omit<Options, "retries" | "timeout" | "idempotencyKey" | "ifMatch"> {
  /** The `id` of the last event seen; the stream starts now if absent. */
  after?: string;
  /** `false` ends the stream after all events up to now. */
  follow?: boolean;
  /** Called whenever the connection was lost or could not be opened, before the stream reconnects. */
  onDisconnect?: () => void;
}

/** A message of an event stream. */
export interface Message {
  id: string;
  event: string;
  data: string;
  /** The reconnection delay in milliseconds, if the server sent one. */
  retry?: number;
}

// The server sends at least a comment every fifteen seconds.
const SILENCE_TIMEOUT_MS = 45_000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
const RETRYABLE = new Set([0, 429, 500, 502, 503, 504]);

/** Live events, without gaps and duplicates across lost connections. */
export async function* events(
  transport: Transport,
  options: EventOptions = {},
): AsyncGenerator<LiveEvent, void, undefined> {
  const { follow, onDisconnect, ...callOptions } = options;
  let { after } = options;
  let wait = FIRST_WAIT_MS;
  let failures = 0;
  for (;;) {
    const connection = new AbortController();
    const abort = () => connection.abort(options.signal?.reason);
    options.signal?.throwIfAborted();
    options.signal?.addEventListener("abort", abort, { once: true });
    try {
      const headers: Record<string, string> = { ...options.headers, accept: "text/event-stream" };
      if (after !== undefined) headers["last-event-id"] = after;
      const silence = new SilenceTimer(() => connection.abort(new Error("silence")));
      try {
        const response = await transport.open("/api/events", {
          ...callOptions,
          headers,
          query: { follow },
          signal: connection.signal,
        });
        if (!response.body) return;
        for await (const message of eventStream(silence.over(response.body))) {
          failures = 0;
          if (message.retry !== undefined) wait = message.retry;
          if (message.id) after = message.id;
          // The first message only has the id of the start position, and no data.
          if (message.data) yield readEvent(message);
        }
        if (follow === false) return;
      } finally {
        silence.stop();
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (error instanceof LukasaError && !RETRYABLE.has(error.status)) throw error;
      failures++;
    } finally {
      options.signal?.removeEventListener("abort", abort);
      connection.abort();
    }
    onDisconnect?.();
    const most = Math.min(MAX_WAIT_MS, wait * 2 ** failures);
    await pause(wait / 2 + Math.random() * (most - wait / 2), options.signal);
  }
}

function readEvent({ id, event, data }: Message): LiveEvent {
  return { id, verb: event, operation: JSON.parse(data) as OperationView };
}

/** Aborts a connection that has been silent for too long. */
class SilenceTimer {
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
    this.#reset();
  }

  #reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilence, SILENCE_TIMEOUT_MS);
  }

  async *over(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.#reset();
        yield value;
      }
    } finally {
      reader.releaseLock();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Parses an event stream by the HTML standard. An incomplete last message is dropped. */
export async function* eventStream(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Message, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];
  let retry: number | undefined;
  // Whether this message has an id: a message without data may have only that.
  let hasId = false;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end of a chunk may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0 || retry !== undefined || hasId) {
          yield { id, event: event || "message", data: data.join("\n"), retry };
        }
        [event, data, retry, hasId] = ["", [], undefined, false];
        continue;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id" && !value.includes("\0")) [id, hasId] = [value, true];
      else if (field === "retry" && /^\d+$/.test(value)) retry = Number(value);
    }
  }
}
