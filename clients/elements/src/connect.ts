/** Connects a page to a Lukasa server, with short-lived tokens from its own backend. */
import { Lukasa } from "lukasa-client";
import { type Source, useSource } from "./source.ts";

export interface Connection {
  /** The URL of the Lukasa server. */
  url: string;
  /**
   * Returns a token whenever one is needed: the response of `POST /api/tokens`, or its secret alone. Your
   * backend mints it; a key never reaches the browser.
   */
  token: () => Promise<string | { secret: string; expires_at?: string | null }>;
}

/** A token is replaced this long before it expires. */
const RENEW_BEFORE_MS = 60_000;
/** How long a token with unknown expiry is used. */
const DEFAULT_TTL_MS = 5 * 60_000;

/** Connects every Lukasa element of the page. */
export function connect(connection: Connection): Source {
  const source = lukasaSource(connection);
  useSource(source);
  return source;
}

export function lukasaSource({ url, token }: Connection): Source {
  let current: Promise<{ secret: string; until: number }> | undefined;
  const ask = async () => {
    const result = await token();
    const answer = typeof result === "string" ? { secret: result } : result;
    const ends = answer.expires_at
      ? Date.parse(answer.expires_at) - RENEW_BEFORE_MS
      : Date.now() + DEFAULT_TTL_MS;
    return { secret: answer.secret, until: ends };
  };
  const key = async () => {
    if (current && (await current).until <= Date.now()) current = undefined;
    current ??= ask();
    try {
      return (await current).secret;
    } catch (error) {
      current = undefined;
      throw error;
    }
  };
  // A token can become invalid early, because its key was revoked or the page was suspended: retry once with
  // a new one.
  const fetchWithRenewal: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status !== 401) return answer;
    current = undefined;
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${await key()}`);
    return fetch(input, { ...init, headers });
  };
  const lukasa = new Lukasa({ url, key, fetch: fetchWithRenewal });
  return {
    list: () => lukasa.memories.list({ limit: 200 }).all(),
    proposals: () => lukasa.memories.proposals({ limit: 50 }).all(),
    save: (content) => lukasa.memories.save(content),
    update: ({ id }, content) => lukasa.memories.update(id, content),
    forget: ({ id }) => lukasa.memories.forget(id),
    confirm: ({ id, sha256 }, yes = true, words) =>
      lukasa.memories.confirm(id, {
        confirm: yes,
        sha256: yes ? sha256 : undefined,
        edits: words === undefined ? undefined : { content: words },
      }),
    undo: (operation) => lukasa.operations.undo(operation),
    why: (session, turn) => lukasa.sessions.why(session, turn),
    watch: (changed, signal) => {
      const listen = async () => {
        for await (const event of lukasa.events({ signal })) changed(event.operation);
      };
      // Without events the panel is right when it is opened, and after everything it does itself.
      listen().catch(() => {});
    },
  };
}
