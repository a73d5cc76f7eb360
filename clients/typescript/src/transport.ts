import { LukasaError, problemOf } from "./error.ts";
import type { MemoryView } from "./openapi.ts";
import type { Answer, Input, Method, Operation, Options, PathOf } from "./types.ts";

/** How to reach a server, and as whom. */
export interface Settings {
  /**
   * Where the server is; `LUKASA_URL` or `http://127.0.0.1:7777` if absent, and in a browser the page's
   * own server if empty.
   */
  url?: string;
  /**
   * A key (`lk_live_…`) or a person's token (`lk_user_…`); `LUKASA_KEY` if absent. Tokens are
   * short-lived: give a function, and it is asked before each try.
   */
  key?: string | (() => string | Promise<string>);
  /** Whose memory it is about, by your own id; `LUKASA_USER` if absent. */
  user?: string;
  /** How long one try may take, in milliseconds; 30,000 if absent. */
  timeout?: number;
  /** How often to try again when no answer came, or one that says "later"; 2 if absent. */
  retries?: number;
  /** The `fetch` to use, for a proxy or a test. */
  fetch?: typeof fetch;
  /** Headers for every request. */
  headers?: Record<string, string>;
}

/** A request before it is sent: what `request` makes of its arguments. */
export interface Sending extends Options {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  /** The type of a body that is text or bytes already. */
  contentType?: string;
}

const DEFAULT_URL = "http://127.0.0.1:7777";
const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_RETRIES = 2;
const LATER = new Set([429, 502, 503, 504]);
const FIRST_WAIT = 250;
const LONGEST_WAIT = 8_000;
const LONGEST_RETRY_AFTER = 60_000;

/** Sends requests: the one place that knows headers, retries and time limits, and nothing of memories. */
export class Transport {
  readonly settings: Settings;

  constructor(settings: Settings = {}) {
    this.settings = settings;
  }

  /**
   * Sends any operation of the API, with the types that `openapi.json` gives it:
   *
   * ```ts
   * const page = await lukasa.request("GET", "/api/memory", { query: { domain: "travel" } });
   * ```
   */
  async request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[input]: unknown extends Input<Operation<M, P>>
      ? [Options?]
      : Record<never, never> extends Input<Operation<M, P>>
        ? [(Input<Operation<M, P>> & Options)?]
        : [Input<Operation<M, P>> & Options]
  ): Promise<Answer<Operation<M, P>>> {
    const response = await this.send(method, path as string, input as Sending | undefined);
    return (await contentOf(response)) as Answer<Operation<M, P>>;
  }

  /** The same without types, and with the whole answer: its body is read already. */
  async send(method: Method, path: string, sending: Sending = {}): Promise<Response> {
    const url = this.url(path, sending);
    const init = this.#init(method, sending);
    const retries = mayRepeat(method, path)
      ? (sending.retries ?? this.settings.retries ?? DEFAULT_RETRIES)
      : 0;
    for (let tries = 0; ; tries++) {
      const outcome = await this.#once(url, init, sending);
      if (outcome instanceof Response && outcome.ok) return outcome;
      const again = !(outcome instanceof Response) || LATER.has(outcome.status);
      if (!again || tries >= retries) {
        throw outcome instanceof Response ? await problemOf(outcome) : outcome;
      }
      await pause(waitBefore(tries, outcome), sending.signal);
    }
  }

  /** Asks for a stream and gives the answer as soon as it begins; nothing is tried again. */
  async open(path: string, sending: Sending): Promise<Response> {
    const init = this.#init("GET", sending);
    const signal = sending.signal ?? null;
    const response = await this.#fetch(this.url(path, sending), {
      ...init,
      headers: await this.#headers(init.headers),
      signal,
    }).catch((cause) => {
      if (signal?.aborted) throw signal.reason;
      throw unreachable(cause);
    });
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  url(path: string, sending: Sending): string {
    const base = this.settings.url ?? environment("LUKASA_URL") ?? DEFAULT_URL;
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => segment(name, sending.path?.[name]));
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(sending.query ?? {})) {
      if (value === undefined || value === null) continue;
      query.set(name, value instanceof Date ? value.toISOString() : String(value));
    }
    const text = query.toString();
    return base.replace(/\/+$/, "") + filled + (text && `?${text}`);
  }

  #init(method: Method, sending: Sending): RequestInit & { headers: Headers } {
    const headers = new Headers(this.settings.headers);
    for (const [name, value] of Object.entries(sending.headers ?? {})) headers.set(name, value);
    const user = sending.user ?? this.settings.user ?? environment("LUKASA_USER");
    if (user !== undefined) headers.set("x-lukasa-user", bytes(user));
    // All tries of one call carry one key: that is what makes them one write.
    if (method !== "GET") headers.set("idempotency-key", sending.idempotencyKey ?? draw());
    if (sending.ifMatch !== undefined) headers.set("if-match", etag(sending.ifMatch));
    if (sending.body === undefined) return { method, headers };
    headers.set("content-type", sending.contentType ?? "application/json");
    const body = sending.contentType ? (sending.body as BodyInit) : JSON.stringify(sending.body);
    return { method, headers, body };
  }

  async #once(
    url: string,
    init: RequestInit & { headers: Headers },
    sending: Sending,
  ): Promise<Response | LukasaError> {
    const { signal } = sending;
    const milliseconds = sending.timeout ?? this.settings.timeout ?? DEFAULT_TIMEOUT;
    const limit = AbortSignal.timeout(milliseconds);
    signal?.throwIfAborted();
    const headers = await this.#headers(init.headers);
    try {
      const response = await this.#fetch(url, {
        ...init,
        headers,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      // The body is read here, so that an answer that breaks off is tried again as well.
      const body = NO_BODY.has(response.status) ? null : await response.arrayBuffer();
      const { status, statusText } = response;
      return new Response(body, { status, statusText, headers: response.headers });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      return limit.aborted ? tooLate(milliseconds, cause) : unreachable(cause);
    }
  }

  async #headers(headers: Headers): Promise<Headers> {
    const { key } = this.settings;
    const secret = typeof key === "function" ? await key() : (key ?? environment("LUKASA_KEY"));
    const all = new Headers(headers);
    if (secret) all.set("authorization", `Bearer ${secret}`);
    return all;
  }

  get #fetch(): typeof fetch {
    // Browsers refuse a `fetch` that is called as a method of something else.
    return this.settings.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }
}

const NO_BODY = new Set([204, 205, 304]);

/** The ETag of a memory as it was read, for `If-Match`. */
export function etag(memory: MemoryView | string): string {
  return typeof memory === "string" ? memory : `"${memory.version_id}"`;
}

async function contentOf(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("json")) {
    return response.json().catch((cause: unknown) => {
      const requestId = response.headers.get("lukasa-request-id") ?? undefined;
      throw new LukasaError(
        { code: "unreadable", title: "The answer is no JSON" },
        requestId,
        cause,
      );
    });
  }
  return type ? response.blob() : undefined;
}

/**
 * Whether a request may be sent again when its outcome is unknown. The server answers a repeated key
 * as it did at first, except where a secret is made, which it does not keep to show again.
 */
function mayRepeat(method: Method, path: string): boolean {
  return method !== "POST" || !/^\/api\/(keys|tokens|webhooks)$/.test(path);
}

/** How long to wait before the next try: what the server says, or a random part of a growing time. */
function waitBefore(tries: number, outcome: Response | LukasaError): number {
  const random = Math.random();
  if (outcome instanceof Response) {
    const after = retryAfter(outcome.headers.get("retry-after"));
    if (after !== undefined) return Math.min(after, LONGEST_RETRY_AFTER) + random * FIRST_WAIT;
  }
  return random * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** tries);
}

function retryAfter(header: string | null): number | undefined {
  if (!header) return undefined;
  const milliseconds = /^\d+$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}

/** Waits, unless the caller gives up first. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const given = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", given);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", given, { once: true });
  });
}

/** One name in a path. A name of dots would climb out of its folder, and an empty one name nothing. */
function segment(name: string, value: unknown): string {
  const text = value === undefined || value === null ? "" : String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`\`${name}\` cannot be ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}

/** Text as a header carries it: UTF-8, one character for each byte. */
function bytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** A key nobody has drawn before. `randomUUID` is missing on pages that are not served securely. */
function draw(): string {
  const drawn = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

function unreachable(cause: unknown): LukasaError {
  const detail = "Is it running, and is the URL right? `lukasa doctor` tells.";
  const title = "The Lukasa server did not answer";
  return new LukasaError({ code: "unreachable", title, detail }, undefined, cause);
}

function tooLate(milliseconds: number, cause: unknown): LukasaError {
  const title = `The Lukasa server did not answer within ${milliseconds} ms`;
  const detail = "A write may have happened: send it again with the same idempotency key.";
  return new LukasaError({ code: "timeout", title, detail }, undefined, cause);
}
