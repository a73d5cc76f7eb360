/** A page that reaches a Lukasa server: with short-lived tokens that its own backend mints. */
import { Lukasa } from "lukasa-client";
import { type Source, useSource } from "./source.ts";

export interface Connection {
  /** Where the Lukasa server is. */
  url: string;
  /**
   * Asked for a token whenever one is needed: the answer of `POST /api/tokens`, or its secret alone. Your
   * backend makes it; a key never reaches the browser.
   */
  token: () => Promise<string | { secret: string; expires_at?: string | null }>;
}

/** A new token is asked for this long before the old one ends. */
const EARLY = 60_000;
/** How long a token is used whose end is not known. */
const UNKNOWN = 5 * 60_000;

/** Connects every Lukasa element of the page. */
export function connect(connection: Connection): Source {
  const source = lukasaSource(connection);
  useSource(source);
  return source;
}

export function lukasaSource({ url, token }: Connection): Source {
  let held: Promise<{ secret: string; until: number }> | undefined;
  const ask = async () => {
    const said = await token();
    const answer = typeof said === "string" ? { secret: said } : said;
    const ends = answer.expires_at ? Date.parse(answer.expires_at) - EARLY : Date.now() + UNKNOWN;
    return { secret: answer.secret, until: ends };
  };
  const key = async () => {
    if (held && (await held).until <= Date.now()) held = undefined;
    held ??= ask();
    try {
      return (await held).secret;
    } catch (error) {
      held = undefined;
      throw error;
    }
  };
  // A token can end early, because its key was revoked or the page was asleep: then another is asked for.
  const patient: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status !== 401) return answer;
    held = undefined;
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${await key()}`);
    return fetch(input, { ...init, headers });
  };
  const lukasa = new Lukasa({ url, key, fetch: patient });
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
