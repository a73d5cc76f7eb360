import type {
  AppendedTurns,
  AppendTurn,
  Beacon,
  ClosedSession,
  CloseSession,
  EditSession,
  FoundSessions,
  OpenSession,
  SessionContextView,
  SessionView,
  TurnView,
  WhyView,
  WindowView,
  WriteResult,
} from "./openapi.ts";
import { Pages } from "./pages.ts";
import type { Transport } from "./transport.ts";
import type { Options, Query } from "./types.ts";

/** Chats (sessions), with ids chosen by the caller. Appending to a new id opens a chat. */
export const sessions = (lukasa: Transport) => ({
  /** Opens a chat with settings, such as incognito. */
  open(session: OpenSession = {}, options?: Options): Promise<SessionView> {
    return lukasa.request("POST", "/api/sessions", { ...options, body: session });
  },

  get(
    session_id: string,
    { show_hidden, ...options }: Options & Query<"GET", "/api/sessions/{session_id}"> = {},
  ): Promise<SessionView> {
    return lukasa.request("GET", "/api/sessions/{session_id}", {
      ...options,
      path: { session_id },
      query: { show_hidden },
    });
  },

  list(filter: Query<"GET", "/api/sessions"> = {}, options?: Options): Pages<SessionView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/sessions", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** Searches in all chats. */
  search(
    query: string,
    { limit, ...options }: Options & { limit?: number } = {},
  ): Promise<FoundSessions> {
    return lukasa.request("GET", "/api/sessions/search", { ...options, query: { query, limit } });
  },

  /** Renames, archives or unarchives a chat. */
  edit(session_id: string, edits: EditSession, options?: Options): Promise<SessionView> {
    const input = { ...options, path: { session_id }, body: edits };
    return lukasa.request("PATCH", "/api/sessions/{session_id}", input);
  },

  /** Moves a chat to the trash, for thirty days. */
  delete(session_id: string, options?: Options): Promise<SessionView> {
    const input = { ...options, path: { session_id } };
    return lukasa.request("DELETE", "/api/sessions/{session_id}", input);
  },

  /** Restores a chat from the trash. */
  restore(session_id: string, options?: Options): Promise<SessionView> {
    const input = { ...options, path: { session_id } };
    return lukasa.request("POST", "/api/sessions/{session_id}/restore", input);
  },

  /** Erases a chat now and everywhere, with what was learned from it alone. It cannot be undone. */
  erase(session_id: string, options?: Options): Promise<WriteResult> {
    const input = { ...options, path: { session_id } };
    return lukasa.request("POST", "/api/sessions/{session_id}/erase", input);
  },

  /** Appends between 1 and 100 turns. */
  append(
    session_id: string,
    turns: AppendTurn | AppendTurn[],
    options?: Options,
  ): Promise<AppendedTurns> {
    const body = { turns: Array.isArray(turns) ? turns : [turns] };
    const input = { ...options, path: { session_id }, body };
    return lukasa.request("POST", "/api/sessions/{session_id}/turns", input);
  },

  /** The turns of a chat, in order. */
  turns(
    session_id: string,
    filter: Query<"GET", "/api/sessions/{session_id}/turns"> = {},
    options?: Options,
  ): Pages<TurnView> {
    return new Pages((cursor = filter.cursor) => {
      const input = { ...options, path: { session_id }, query: { ...filter, cursor } };
      return lukasa.request("GET", "/api/sessions/{session_id}/turns", input);
    });
  },

  /** Closes a chat: its new turns are learned from, and appending reopens it. */
  close(session_id: string, how: CloseSession = {}, options?: Options): Promise<ClosedSession> {
    const input = { ...options, path: { session_id }, body: how };
    return lukasa.request("POST", "/api/sessions/{session_id}/close", input);
  },

  /** Learns from a chat now. */
  learn(session_id: string, options?: Options): Promise<ClosedSession> {
    const input = { ...options, path: { session_id } };
    return lukasa.request("POST", "/api/sessions/{session_id}/learn", input);
  },

  /** A chat, cut to the context window of a model. */
  window(
    session_id: string,
    query: Query<"GET", "/api/sessions/{session_id}/window"> = {},
    options?: Options,
  ): Promise<WindowView> {
    const input = { ...options, path: { session_id }, query };
    return lukasa.request("GET", "/api/sessions/{session_id}/window", input);
  },

  /** The memories and context behind a turn. */
  why(session_id: string, number: number, options?: Options): Promise<WhyView> {
    const input = { ...options, path: { session_id, number } };
    return lukasa.request("GET", "/api/sessions/{session_id}/turns/{number}/why", input);
  },

  /** The contexts that this chat received. */
  context(session_id: string, options?: Options): Promise<SessionContextView> {
    const input = { ...options, path: { session_id } };
    return lukasa.request("GET", "/api/sessions/{session_id}/context", input);
  },

  /**
   * Closes a chat while the page is unloaded. In a browser the request outlives the page; the token is
   * sent in the body, because a beacon has no headers.
   */
  async beacon(beacon: Beacon, options?: Options): Promise<void> {
    const body = JSON.stringify(beacon);
    const { navigator } = globalThis as { navigator?: Navigator };
    if (navigator?.sendBeacon?.(lukasa.url("/api/beacon", {}), body)) return;
    await lukasa.request("POST", "/api/beacon", { ...options, body, contentType: "text/plain" });
  },
});
