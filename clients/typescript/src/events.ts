import { LukasaError } from "./error.ts";
import type { OperationView } from "./openapi.ts";
import { pause, type Transport } from "./transport.ts";
import type { Options } from "./types.ts";

/** Something that happened to a memory: one event for each operation. */
export interface LiveEvent {
  /** Where in the stream it stands: give it back as `after` to go on from here. */
  id: string;
  /** What was done, such as `save`. */
  verb: string;
  /** The operation, which can be undone. */
  operation: OperationView;
}

/** Where to begin and when to end, besides what any call can be told. */
export interface EventOptions
  extends Omit<Options, "retries" | "timeout" | "idempotencyKey" | "ifMatch"> {
  /** The `id` of the last event that was seen; from now on if absent. */
  after?: string;
  /** `false` ends once everything up to now was told. */
  follow?: boolean;
}

/** A message of an event stream. */
export interface Message {
  id: string;
  event: string;
  data: string;
  /** How long to wait before connecting again, if the server said so. */
  retry?: number;
}

// The server says something every fifteen seconds, if only that it is there.
const SILENCE = 45_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const LATER = new Set([0, 429, 500, 502, 503, 504]);

/** What happens, as it happens, without a gap and without a double across lost connections. */
export async function* events(
  transport: Transport,
  options: EventOptions = {},
): AsyncGenerator<LiveEvent, void, undefined> {
  const { follow, ...told } = options;
  let { after } = options;
  let wait = FIRST_WAIT;
  let failures = 0;
  for (;;) {
    const line = new AbortController();
    const hangUp = () => line.abort(options.signal?.reason);
    options.signal?.throwIfAborted();
    options.signal?.addEventListener("abort", hangUp, { once: true });
    try {
      const headers: Record<string, string> = { ...options.headers, accept: "text/event-stream" };
      if (after !== undefined) headers["last-event-id"] = after;
      const watch = new Watch(() => line.abort(new Error("silence")));
      try {
        const response = await transport.open("/api/events", {
          ...told,
          headers,
          query: { follow },
          signal: line.signal,
        });
        if (!response.body) return;
        for await (const message of eventStream(watch.over(response.body))) {
          failures = 0;
          if (message.retry !== undefined) wait = message.retry;
          if (message.id) after = message.id;
          // The server's greeting says where the stream begins, and tells of nothing yet.
          if (message.data) yield readEvent(message);
        }
        if (follow === false) return;
      } finally {
        watch.stop();
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (error instanceof LukasaError && !LATER.has(error.status)) throw error;
      failures++;
    } finally {
      options.signal?.removeEventListener("abort", hangUp);
      line.abort();
    }
    const most = Math.min(LONGEST_WAIT, wait * 2 ** failures);
    await pause(wait / 2 + Math.random() * (most - wait / 2), options.signal);
  }
}

function readEvent({ id, event, data }: Message): LiveEvent {
  return { id, verb: event, operation: JSON.parse(data) as OperationView };
}

/** Hangs up on a line on which nothing is heard any more. */
class Watch {
  readonly #bark: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(bark: () => void) {
    this.#bark = bark;
    this.#heard();
  }

  #heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#bark, SILENCE);
  }

  async *over(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.#heard();
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

/** Reads an event stream, as the HTML standard says. A message that breaks off is not one. */
export async function* eventStream(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Message, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];
  let retry: number | undefined;
  // Whether this message says where it stands: one without data may say just that.
  let placed = false;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the very end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0 || retry !== undefined || placed) {
          yield { id, event: event || "message", data: data.join("\n"), retry };
        }
        [event, data, retry, placed] = ["", [], undefined, false];
        continue;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id" && !value.includes("\0")) [id, placed] = [value, true];
      else if (field === "retry" && /^\d+$/.test(value)) retry = Number(value);
    }
  }
}
