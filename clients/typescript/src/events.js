import { QuipuError } from "./error.js";
import { pause } from "./transport.js";

// The server says something every fifteen seconds, if only that it is there.
const SILENCE = 45_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const LATER = new Set([0, 429, 500, 502, 503, 504]);
/** What happens, as it happens, without a gap and without a double across lost connections. */
export async function* events(transport, options = {}) {
  let { after } = options;
  let wait = FIRST_WAIT;
  let failures = 0;
  for (;;) {
    const line = new AbortController();
    const hangUp = () => line.abort(options.signal?.reason);
    options.signal?.throwIfAborted();
    options.signal?.addEventListener("abort", hangUp, { once: true });
    try {
      const headers = { ...options.headers, accept: "text/event-stream" };
      if (after !== undefined) headers["last-event-id"] = after;
      const watch = new Watch(() => line.abort(new Error("silence")));
      try {
        const response = await transport.open("/api/events", {
          ...options,
          headers,
          signal: line.signal,
        });
        if (!response.body) return;
        for await (const message of messages(watch.over(response.body))) {
          failures = 0;
          if (message.retry !== undefined) wait = message.retry;
          if (message.id) after = message.id;
          if (message.data) yield readEvent(message);
        }
      } finally {
        watch.stop();
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (error instanceof QuipuError && !LATER.has(error.status)) throw error;
      failures++;
    } finally {
      options.signal?.removeEventListener("abort", hangUp);
      line.abort();
    }
    const most = Math.min(LONGEST_WAIT, wait * 2 ** failures);
    await pause(wait / 2 + Math.random() * (most - wait / 2), options.signal);
  }
}
function readEvent(message) {
  const event = JSON.parse(message.data);
  return { ...event, id: message.id, verb: event.verb ?? message.event };
}
/** Hangs up on a line on which nothing is heard any more. */
class Watch {
  #bark;
  #timer;
  constructor(bark) {
    this.#bark = bark;
    this.#heard();
  }
  #heard() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#bark, SILENCE);
  }
  async *over(body) {
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
  stop() {
    clearTimeout(this.#timer);
  }
}
/** Reads an event stream, as the HTML standard says. A message that breaks off is not one. */
export async function* messages(chunks) {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let event = "";
  let data = [];
  let retry;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the very end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0 || retry !== undefined) {
          yield { id, event: event || "message", data: data.join("\n"), retry };
        }
        [event, data, retry] = ["", [], undefined];
        continue;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id" && !value.includes("\0")) id = value;
      else if (field === "retry" && /^\d+$/.test(value)) retry = Number(value);
    }
  }
}
