/**
 * Chats with live state in this browser tab: running answers, drafts, and which chat is open. The state is not
 * in a component, because an answer continues while the user opens another page, and a new chat gets its
 * address during its first answer. `use-live-chats.ts` has the instance of the page.
 */
import type { Lukasa } from "lukasa-client";
import type { CompletionRequest, Mode, StreamEvent } from "../../data/gateway.ts";
import { applyEvent, interruptRound, startRound } from "./live-round.ts";
import type { Round } from "./rounds.ts";

/** The requests of a chat, so that tests can replace them. */
export interface ChatGateway {
  stream: (lukasa: Lukasa, request: CompletionRequest) => AsyncIterable<StreamEvent>;
  close: (lukasa: Lukasa, session: string) => void;
}

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
/** Delay before a left chat is closed: a page that changes its address has no chat for a moment. */
const CLOSE_DELAY_MS = 400;

/** The name of a chat in `LiveChats`. There is one incognito chat per mode, known only here. */
export function chatName(session: string | null, mode: Mode): string {
  return mode === "on" ? (session ?? "") : `incognito ${mode}`;
}

function isIncognito(name: string): boolean {
  return name.startsWith("incognito ");
}

export class LiveChats {
  private readonly gateway: ChatGateway;
  private readonly chats = new Map<string, Chat>();
  private readonly listeners = new Set<() => void>();
  /** Unsent drafts by chat. */
  private readonly drafts = new Map<string, string>();
  /** Live state of rounds that are stored by now, by retrieval. */
  private readonly stored = new Map<string, Pick<Round, "key" | "state" | "calls" | "degraded">>();
  /** Whether a render is already scheduled. */
  private scheduled = false;
  private roundCount = 0;
  private current: { name: string; lukasa: Lukasa } | null = null;
  /** Chats that were left within the last `CLOSE_DELAY_MS`. */
  private readonly leaving = new Map<string, Lukasa>();

  constructor(gateway: ChatGateway) {
    this.gateway = gateway;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private notify(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setTimeout(() => {
      this.scheduled = false;
      for (const listener of this.listeners) listener();
    }, RENDER_INTERVAL_MS);
  }

  /** The live rounds of a chat: running, or not yet stored. */
  rounds(name: string): readonly Round[] {
    return this.chats.get(name)?.rounds ?? NONE;
  }

  /** The names of chats that are being answered now, one per line. */
  answering(): string {
    return [...this.chats]
      .filter(([, chat]) => chat.stop !== null)
      .map(([name]) => name)
      .join("\n");
  }

  draft(name: string): string {
    return this.drafts.get(name) ?? "";
  }

  setDraft(name: string, text: string): void {
    if (text) this.drafts.set(name, text);
    else this.drafts.delete(name);
  }

  private change(name: string, key: string, next: (round: Round) => Round): void {
    const chat = this.chats.get(name);
    if (!chat) return;
    chat.rounds = chat.rounds.map((round) => (round.key === key ? next(round) : round));
    this.notify();
  }

  /** Sends a message after the turn with this number, and follows the answer to its end. */
  async send(
    lukasa: Lukasa,
    name: string,
    words: string,
    after: number,
    request: Omit<CompletionRequest, "signal">,
  ): Promise<void> {
    const chat = this.chats.get(name) ?? { rounds: NONE, stop: null, session: null, dirty: false };
    if (chat.stop) return;
    const key = `live-${++this.roundCount}`;
    const stop = new AbortController();
    this.chats.set(name, chat);
    // A failed round without an answer is replaced by this one.
    const rounds = chat.rounds.filter((round) => round.state !== "failed" || round.answer);
    chat.rounds = [...rounds, startRound(key, words, after)];
    chat.stop = stop;
    chat.session = request.session;
    chat.dirty = request.session !== null;
    this.notify();
    try {
      for await (const event of this.gateway.stream(lukasa, { ...request, signal: stop.signal })) {
        this.change(name, key, (round) => applyEvent(round, event));
      }
      this.change(name, key, (round) => ({ ...round, state: "done" }));
    } catch (error) {
      this.change(name, key, (round) => interruptRound(round, error, stop.signal.aborted));
    } finally {
      chat.stop = null;
      this.notify();
      // The user may have opened another chat meanwhile.
      if (this.current?.name !== name) this.leave(lukasa, name);
    }
  }

  /** Stops a running answer. */
  stop(name: string): void {
    this.chats.get(name)?.stop?.abort();
  }

  /** Drops live rounds that are stored by now; their keys are remembered, so that React keeps the elements. */
  dropStored(name: string, stored: readonly Round[]): void {
    const chat = this.chats.get(name);
    if (!chat || stored.length === 0) return;
    for (const { retrieval, key, state, calls, degraded } of stored) {
      if (retrieval) this.stored.set(retrieval, { key, state, calls, degraded });
    }
    chat.rounds = chat.rounds.filter((round) => !stored.includes(round));
    this.notify();
  }

  /** A stored round with what only this page knows: its key, how it ended, why a call failed. */
  withLiveState(round: Round): Round {
    const was = round.retrieval ? this.stored.get(round.retrieval) : undefined;
    if (!was) return round;
    const calls = round.calls.map((call, at) => {
      const { message = null, shut = null } = was.calls[at] ?? {};
      return call.failed ? { ...call, message, shut } : call;
    });
    return { ...round, key: was.key, state: was.state, degraded: was.degraded, calls };
  }

  /** Removes all live state of a chat. */
  forget(name: string): void {
    this.chats.get(name)?.stop?.abort();
    this.chats.delete(name);
    this.drafts.delete(name);
    this.notify();
  }

  /** Sets the open chat. The previous one is closed if it has new messages. */
  open(lukasa: Lukasa, name: string): void {
    const before = this.current;
    this.current = { name, lukasa };
    if (!before || before.name === name) return;
    if (isIncognito(before.name)) {
      this.stopAndClose(before.lukasa, before.name);
      this.forget(before.name);
    } else this.leave(before.lukasa, before.name);
  }

  /** Closes the open chat and those that were just left, because the page is unloaded. */
  closeAll(): void {
    for (const name of this.leaving.keys()) this.closeIfLeft(name);
    if (this.current) this.stopAndClose(this.current.lukasa, this.current.name);
  }

  private close(lukasa: Lukasa, name: string): void {
    const chat = this.chats.get(name);
    if (!chat?.dirty || chat.stop || chat.session === null) return;
    chat.dirty = false;
    this.gateway.close(lukasa, chat.session);
  }

  private stopAndClose(lukasa: Lukasa, name: string): void {
    const chat = this.chats.get(name);
    chat?.stop?.abort();
    if (chat) chat.stop = null;
    this.close(lukasa, name);
  }

  /** Closes a chat that was left, unless it is opened again at once. */
  private leave(lukasa: Lukasa, name: string): void {
    this.leaving.set(name, lukasa);
    setTimeout(() => this.closeIfLeft(name), CLOSE_DELAY_MS);
  }

  private closeIfLeft(name: string): void {
    const lukasa = this.leaving.get(name);
    this.leaving.delete(name);
    if (lukasa && this.current?.name !== name) this.close(lukasa, name);
  }
}
