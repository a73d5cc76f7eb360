/**
 * Chats with live state in this browser tab. The state is kept here and not in a component, because an answer
 * continues while the user opens another page, and a new chat gets its address during its first answer.
 */
import type { Lukasa } from "lukasa-client";
import { useSyncExternalStore } from "react";
import {
  beacon,
  type CompletionRequest,
  type Mode,
  type StreamEvent,
  streamCompletion,
  type ToolEvent,
} from "../../data/gateway.ts";
import type { Call, Round } from "./rounds.ts";

interface Chat {
  rounds: readonly Round[];
  stop: AbortController | null;
  /** The session id; null if the server does not know the chat. */
  session: string | null;
  /** Whether it has new messages since it was last closed; otherwise no close is sent. */
  dirty: boolean;
}

const NONE: readonly Round[] = [];
/** Minimum time between two renders while words are streamed. */
const RENDER_INTERVAL_MS = 40;

const chats = new Map<string, Chat>();
const listeners = new Set<() => void>();
/** Unsent drafts by chat. */
const drafts = new Map<string, string>();
/** Live state of rounds that are stored by now, by retrieval. */
const seen = new Map<string, Pick<Round, "key" | "state" | "calls" | "degraded">>();
/** Whether a render is already scheduled. */
let scheduled = false;
let roundCount = 0;
let current: { name: string; lukasa: Lukasa } | null = null;
/** Chats that were left within the last `CLOSE_DELAY_MS`. */
const leaving = new Map<string, Lukasa>();
/** Delay before a left chat is closed: a page that changes its address has no chat for a moment. */
const CLOSE_DELAY_MS = 400;

function notify(): void {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    for (const listener of listeners) listener();
  }, RENDER_INTERVAL_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The key of a chat in this module. There is one incognito chat per mode, known only here. */
export function nameOf(session: string | null, mode: Mode): string {
  return mode === "on" ? (session ?? "") : `incognito ${mode}`;
}

function isIncognito(name: string): boolean {
  return name.startsWith("incognito ");
}

/** The live rounds of a chat: running, or not yet stored. */
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
  notify();
}

/** Sends a message after the turn with this number, and follows the answer to its end. */
export async function ask(
  lukasa: Lukasa,
  name: string,
  words: string,
  after: number,
  how: Omit<CompletionRequest, "signal">,
): Promise<void> {
  const chat = chats.get(name) ?? { rounds: NONE, stop: null, session: null, dirty: false };
  if (chat.stop) return;
  const key = `live-${++roundCount}`;
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
  // A failed round without an answer is replaced by this one.
  const rounds = chat.rounds.filter((round) => round.state !== "failed" || round.answer);
  const { session } = how;
  Object.assign(chat, { rounds: [...rounds, begun], stop, session, dirty: session !== null });
  notify();
  try {
    for await (const piece of streamCompletion(lukasa, { ...how, signal: stop.signal })) {
      change(name, key, (round) => applyPiece(round, piece));
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
    notify();
    // The user may have opened another chat meanwhile.
    if (current?.name !== name) leave(lukasa, name);
  }
}

export function stopAnswer(name: string): void {
  chats.get(name)?.stop?.abort();
}

/** Drops live rounds that are stored by now; their keys are remembered, so that React keeps the elements. */
export function dropStored(name: string, stored: readonly Round[]): void {
  const chat = chats.get(name);
  if (!chat || stored.length === 0) return;
  for (const { retrieval, key, state, calls, degraded } of stored) {
    if (retrieval) seen.set(retrieval, { key, state, calls, degraded });
  }
  chat.rounds = chat.rounds.filter((round) => !stored.includes(round));
  notify();
}

/** A stored round with what only this page knows: its key, how it ended, why a call failed. */
export function withLiveState(round: Round): Round {
  const was = round.retrieval ? seen.get(round.retrieval) : undefined;
  if (!was) return round;
  const calls = round.calls.map((call, at) => {
    const { message = null, shut = null } = was.calls[at] ?? {};
    return call.failed ? { ...call, message, shut } : call;
  });
  return { ...round, key: was.key, state: was.state, degraded: was.degraded, calls };
}

/** Removes all live state of a chat. */
export function forgetChat(name: string): void {
  chats.get(name)?.stop?.abort();
  chats.delete(name);
  drafts.delete(name);
  notify();
}

function close(lukasa: Lukasa, name: string): void {
  const chat = chats.get(name);
  if (!chat?.dirty || chat.stop || chat.session === null) return;
  chat.dirty = false;
  beacon(lukasa, chat.session);
}

/** Closes a chat and aborts its running answer. */
function end(lukasa: Lukasa, name: string): void {
  const chat = chats.get(name);
  chat?.stop?.abort();
  if (chat) chat.stop = null;
  close(lukasa, name);
}

/** Closes a chat that was left, unless it is opened again at once. */
function leave(lukasa: Lukasa, name: string): void {
  leaving.set(name, lukasa);
  setTimeout(() => settle(name), CLOSE_DELAY_MS);
}

function settle(name: string): void {
  const lukasa = leaving.get(name);
  leaving.delete(name);
  if (lukasa && current?.name !== name) close(lukasa, name);
}

/** Sets the open chat. The previous one is closed if it has new messages. */
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

function applyPiece(round: Round, piece: StreamEvent): Round {
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
      return { ...round, calls: applyTool(round.calls, piece.tool) };
  }
}

function applyTool(calls: readonly Call[], tool: ToolEvent): Call[] {
  // Some services reuse call ids: match the call that is running.
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

/** The memories of a tool result with their texts, and the operation that can be undone. */
function foundIn(result: unknown): Pick<Call, "memories" | "operation" | "words"> {
  const { memory, memories = [], event } = (result ?? {}) as Result;
  const briefs = memory ? [memory, ...memories] : memories;
  return {
    memories: event?.memory_ids ?? briefs.map((brief) => brief.id),
    operation: event?.operation_id ?? null,
    words: Object.fromEntries(briefs.map((brief) => [brief.id, brief.content])),
  };
}
