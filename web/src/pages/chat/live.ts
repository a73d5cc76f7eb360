/**
 * The chats that are going on in this page. They are held here and not in a component, because an answer
 * goes on while its person looks at another page, and a new chat gets its address in the middle of one.
 */
import type { Lukasa } from "lukasa-client";
import { useSyncExternalStore } from "react";
import {
  type Ask,
  beacon,
  converse,
  type Mode,
  type Piece,
  type ToolEvent,
} from "../../data/gateway.ts";
import type { Call, Round } from "./rounds.ts";

interface Chat {
  rounds: readonly Round[];
  stop: AbortController | null;
  /** What the server calls it; nothing where it does not know of it. */
  session: string | null;
  /** Whether something was said since it was last closed; if not, nobody is told of its end. */
  dirty: boolean;
}

const NONE: readonly Round[] = [];
/** Words come faster than they can be read; the page is drawn this often at most. */
const DRAWN_EVERY = 40;

const chats = new Map<string, Chat>();
const listeners = new Set<() => void>();
/** What was typed and not sent, by chat. */
const drafts = new Map<string, string>();
/** How rounds that are kept by now were seen happening, by their retrieval. */
const seen = new Map<string, Pick<Round, "key" | "state" | "calls" | "degraded">>();
/** Whether the page is about to be told that something changed. */
let told = false;
let asked = 0;
let current: { name: string; lukasa: Lukasa } | null = null;
/** Chats that were left a moment ago. */
const leaving = new Map<string, Lukasa>();
/** A page that changes its address stands for a moment at none; that is no leaving. */
const GONE_AFTER = 400;

function tell(): void {
  if (told) return;
  told = true;
  setTimeout(() => {
    told = false;
    for (const listener of listeners) listener();
  }, DRAWN_EVERY);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A chat of which nothing is kept has no name of its own: there is one at a time, and only here. */
export function nameOf(session: string | null, mode: Mode): string {
  return mode === "on" ? (session ?? "") : `incognito ${mode}`;
}

function isIncognito(name: string): boolean {
  return name.startsWith("incognito ");
}

/** What is going on in a chat, or has gone on since the page was opened. */
export function useLiveRounds(name: string): readonly Round[] {
  return useSyncExternalStore(subscribe, () => chats.get(name)?.rounds ?? NONE);
}

/** The names of chats that are being answered now. */
export function useAnswering(): string {
  return useSyncExternalStore(subscribe, () =>
    [...chats]
      .filter(([, chat]) => chat.stop !== null)
      .map(([name]) => name)
      .join("\n"),
  );
}

export function draft(name: string): string {
  return drafts.get(name) ?? "";
}

export function keepDraft(name: string, text: string): void {
  if (text) drafts.set(name, text);
  else drafts.delete(name);
}

function change(name: string, key: string, next: (round: Round) => Round): void {
  const chat = chats.get(name);
  if (!chat) return;
  chat.rounds = chat.rounds.map((round) => (round.key === key ? next(round) : round));
  tell();
}

/** Asks, after a turn with this number, and follows the answer to its end. */
export async function ask(
  lukasa: Lukasa,
  name: string,
  words: string,
  after: number,
  how: Omit<Ask, "signal">,
): Promise<void> {
  const chat = chats.get(name) ?? { rounds: NONE, stop: null, session: null, dirty: false };
  if (chat.stop) return;
  const key = `live-${++asked}`;
  const stop = new AbortController();
  const begun: Round = {
    key,
    retrieval: null,
    asked: words,
    answer: "",
    at: new Date().toISOString(),
    number: after,
    turn: null,
    given: 0,
    marks: {},
    calls: [],
    degraded: [],
    state: "asking",
  };
  chats.set(name, chat);
  // What failed before is said again by this one.
  const rounds = chat.rounds.filter((round) => round.state !== "failed" || round.answer);
  const { session } = how;
  Object.assign(chat, { rounds: [...rounds, begun], stop, session, dirty: session !== null });
  tell();
  try {
    for await (const piece of converse(lukasa, { ...how, signal: stop.signal })) {
      change(name, key, (round) => heard(round, piece));
    }
    change(name, key, (round) => ({ ...round, state: "done" }));
  } catch (error) {
    const state = stop.signal.aborted ? "stopped" : "failed";
    change(name, key, (round) => ({
      ...round,
      state,
      error: stop.signal.aborted ? undefined : error,
      calls: round.calls.map((call) => ({ ...call, running: false })),
    }));
  } finally {
    chat.stop = null;
    tell();
    // Its person may have gone on to another chat meanwhile.
    if (current?.name !== name) leave(lukasa, name);
  }
}

export function stopAnswer(name: string): void {
  chats.get(name)?.stop?.abort();
}

/** Lets go of what is kept by now; it is shown under the key it had, so that nothing on it jumps. */
export function letGo(name: string, whole: readonly Round[]): void {
  const chat = chats.get(name);
  if (!chat || whole.length === 0) return;
  for (const { retrieval, key, state, calls, degraded } of whole) {
    if (retrieval) seen.set(retrieval, { key, state, calls, degraded });
  }
  chat.rounds = chat.rounds.filter((round) => !whole.includes(round));
  tell();
}

/** A round that is kept, with what only this page knows: its key, how it ended, why a call failed. */
export function asSeen(round: Round): Round {
  const was = round.retrieval ? seen.get(round.retrieval) : undefined;
  if (!was) return round;
  const calls = round.calls.map((call, at) => {
    const { message = null, shut = null } = was.calls[at] ?? {};
    return call.failed ? { ...call, message, shut } : call;
  });
  return { ...round, key: was.key, state: was.state, degraded: was.degraded, calls };
}

/** Nothing of this chat is to be left, not even here. */
export function forgetChat(name: string): void {
  chats.get(name)?.stop?.abort();
  chats.delete(name);
  drafts.delete(name);
  tell();
}

function close(lukasa: Lukasa, name: string): void {
  const chat = chats.get(name);
  if (!chat?.dirty || chat.stop || chat.session === null) return;
  chat.dirty = false;
  beacon(lukasa, chat.session);
}

/** Ends a chat whether or not it is being answered. One of which nothing is kept ends everywhere. */
function end(lukasa: Lukasa, name: string): void {
  const chat = chats.get(name);
  chat?.stop?.abort();
  if (chat) chat.stop = null;
  close(lukasa, name);
}

/** Closes a chat that was left, unless it is open again at once. */
function leave(lukasa: Lukasa, name: string): void {
  leaving.set(name, lukasa);
  setTimeout(() => settle(name), GONE_AFTER);
}

function settle(name: string): void {
  const lukasa = leaving.get(name);
  leaving.delete(name);
  if (lukasa && current?.name !== name) close(lukasa, name);
}

/** Says which chat is open now. The one before is closed, if something was said in it. */
export function enter(lukasa: Lukasa, name: string): void {
  const before = current;
  current = { name, lukasa };
  if (!before || before.name === name) return;
  if (isIncognito(before.name)) {
    end(before.lukasa, before.name);
    forgetChat(before.name);
  } else leave(before.lukasa, before.name);
}

addEventListener("pagehide", () => {
  for (const name of leaving.keys()) settle(name);
  if (current) end(current.lukasa, current.name);
});

function heard(round: Round, piece: Piece): Round {
  switch (piece.kind) {
    case "begun":
      return {
        ...round,
        state: "answering",
        given: piece.memories,
        retrieval: piece.retrieval,
        degraded: piece.degraded,
      };
    case "words":
      return { ...round, answer: round.answer + piece.text };
    case "tool":
      return { ...round, calls: called(round.calls, piece.tool) };
  }
}

function called(calls: readonly Call[], tool: ToolEvent): Call[] {
  // Some services number their calls anew each time: the one that runs is meant.
  const open = calls.findIndex((call) => call.running && call.id.startsWith(`${tool.id} `));
  const before = calls[open];
  if (tool.state === "running" || !before) return [...calls, begunCall(tool, calls.length)];
  const done: Call = {
    ...before,
    running: false,
    failed: tool.failed ?? false,
    took: tool.took_ms ?? null,
    message: tool.message ?? null,
    ...foundIn(tool.result),
    shut: codeOf(tool.result) === "opt_in_needed" ? before.shut : null,
  };
  return calls.map((call, at) => (at === open ? done : call));
}

function begunCall(tool: ToolEvent, place: number): Call {
  const { query, domain } = tool.arguments ?? {};
  return {
    id: `${tool.id} ${place}`,
    name: tool.name,
    query: typeof query === "string" ? query : null,
    memories: [],
    operation: null,
    failed: false,
    running: tool.state === "running",
    took: null,
    message: null,
    words: {},
    shut: typeof domain === "string" ? domain : null,
  };
}

interface Brief {
  id: string;
  content: string;
}

interface Result {
  memory?: Brief;
  memories?: Brief[];
  event?: { operation_id: string | null; memory_ids: string[] };
  error?: { code: string };
}

function codeOf(result: unknown): string | undefined {
  return ((result ?? {}) as Result).error?.code;
}

/** What a tool's answer names: memories with their words, and the write that can be taken back. */
function foundIn(result: unknown): Pick<Call, "memories" | "operation" | "words"> {
  const { memory, memories = [], event } = (result ?? {}) as Result;
  const briefs = memory ? [memory, ...memories] : memories;
  return {
    memories: event?.memory_ids ?? briefs.map((brief) => brief.id),
    operation: event?.operation_id ?? null,
    words: Object.fromEntries(briefs.map((brief) => [brief.id, brief.content])),
  };
}
