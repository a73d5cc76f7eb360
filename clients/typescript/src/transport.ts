import { LukasaError, problemOf } from "./error.ts";
import type { MemoryView } from "./openapi.ts";
import type { Answer, Input, Method, Operation, Options, PathOf } from "./types.ts";

/** Server, credentials and defaults of a client. */
export interface Settings {
  /**
   * The URL of the server; `LUKASA_URL` or `http://127.0.0.1:7777` if absent, and in a browser the page's
   * own server if empty.
   */
  url?: string;
  /**
   * A key (`lk_live_…`) or a token of a user (`lk_user_…`); `LUKASA_KEY` if absent. Tokens are
   * short-lived: give a function, which is called before each attempt.
   */
  key?: string | (() => string | Promise<string>);
  /** The user, by your own id; `LUKASA_USER` if absent. */
  user?: string;
  /**
   * The project that requests are about: what belongs to it and to no project. Empty: only what belongs to no
   * project. If absent, lists show every project.
   */
  project?: string;
  /**
   * The space to act in, as a member; the user's own memory if absent. Only operations on memories, proposals and
   * the log have spaces: the server refuses the others.
   */
  space?: string;
  /** Timeout of one attempt, in milliseconds; 30,000 if absent. */
  timeout?: number;
  /** Retries after no response, or a retryable status (429, 502, 503, 504); 3 if absent. */
  retries?: number;
  /** The `fetch` to use, for a proxy or a test. */
  fetch?: typeof fetch;
  /** Headers for every request. */
  headers?: Record<string, string>;
}

/** The untyped input of a request. */
export interface Sending extends Options {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  /** The content type of a body that is text or bytes. */
  contentType?: string;
}

const DEFAULT_URL = "http://127.0.0.1:7777";
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 3;
const RETRYABLE = new Set([429, 502, 503, 504]);
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** Sends requests: headers, retries and timeouts. */
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

  /** Sends an untyped request; returns the response with its body already read. */
  async send(method: Method, path: string, sending: Sending = {}): Promise<Response> {
    const url = this.url(path, sending);
    const init = this.#init(method, sending);
    const retries = mayRepeat(method, path)
      ? (sending.retries ?? this.settings.retries ?? DEFAULT_RETRIES)
      : 0;
    for (let tries = 0; ; tries++) {
      const outcome = await this.#once(url, init, sending);
      if (outcome instanceof Response && outcome.ok) return outcome;
      const again = !(outcome instanceof Response) || RETRYABLE.has(outcome.status);
      if (!again || tries >= retries) {
        throw outcome instanceof Response ? await problemOf(outcome) : outcome;
      }
      await pause(waitBefore(tries, outcome), sending.signal);
    }
  }

  /** Opens a stream; resolves as soon as the response begins, without retries. */
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
    const project = sending.project ?? this.settings.project;
    if (project !== undefined) headers.set("x-lukasa-project", bytes(project));
    const space = sending.space ?? this.settings.space;
    if (space !== undefined) headers.set("x-lukasa-space", bytes(space));
    // All attempts of one call have the same key, so that the write happens once.
    if (method !== "GET") headers.set("idempotency-key", sending.idempotencyKey ?? randomKey());
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
    const milliseconds = sending.timeout ?? this.settings.timeout ?? DEFAULT_TIMEOUT_MS;
    const limit = AbortSignal.timeout(milliseconds);
    signal?.throwIfAborted();
    const headers = await this.#headers(init.headers);
    try {
      const response = await this.#fetch(url, {
        ...init,
        headers,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      // Read the body here, so that an incomplete response is retried as well.
      const body = NO_BODY.has(response.status) ? null : await response.arrayBuffer();
      const { status, statusText } = response;
      return new Response(body, { status, statusText, headers: response.headers });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      return limit.aborted ? timedOut(milliseconds, cause) : unreachable(cause);
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
    // Browsers reject `fetch` called as a method of another object.
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
        { code: "unreadable", title: "The response is not JSON" },
        requestId,
        cause,
      );
    });
  }
  return type ? response.blob() : undefined;
}

/**
 * POST requests that are not sent again when their outcome is unknown: their answer has a secret, which the
 * server cannot show again, or a second one would have an effect of its own.
 */
const SENT_ONCE =
  /^\/api\/(keys|tokens|webhooks|users|spaces|sign-in|sign-in\/links|(keys|webhooks)\/[^/]+\/(rotate|test|replay))$/;

/**
 * Whether a request may be sent again when its outcome is unknown. The server replays the first response to a
 * repeated key, or a repetition has no effect, except for the requests in `SENT_ONCE`.
 */
function mayRepeat(method: Method, path: string): boolean {
  return method !== "POST" || !SENT_ONCE.test(path);
}

/** The wait before the next attempt: the server's `Retry-After`, or exponential backoff with jitter. */
function waitBefore(tries: number, outcome: Response | LukasaError): number {
  const random = Math.random();
  if (outcome instanceof Response) {
    const after = retryAfter(outcome.headers.get("retry-after"));
    if (after !== undefined) return Math.min(after, MAX_RETRY_AFTER_MS) + random * FIRST_WAIT_MS;
  }
  return random * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
}

function retryAfter(header: string | null): number | undefined {
  if (!header) return undefined;
  const milliseconds = /^\d+$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}

/** Waits, unless the signal is aborted first. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** A path segment. Empty segments and dots, which would change the path, are rejected. */
function segment(name: string, value: unknown): string {
  const text = value === undefined || value === null ? "" : String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`\`${name}\` cannot be ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}

/** Text encoded for a header: its UTF-8 bytes, each as one character. */
function bytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** A random idempotency key. `randomUUID` is missing on pages without a secure context. */
function randomKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

function unreachable(cause: unknown): LukasaError {
  const detail = "Is it running, and is the URL right? Check with `lukasa doctor`.";
  const title = "The Lukasa server did not answer";
  return new LukasaError({ code: "unreachable", title, detail }, undefined, cause);
}

function timedOut(milliseconds: number, cause: unknown): LukasaError {
  const title = `The Lukasa server did not answer within ${milliseconds} ms`;
  const detail = "A write may have happened: send it again with the same idempotency key.";
  return new LukasaError({ code: "timeout", title, detail }, undefined, cause);
}
