/** One chat: its stored and live rounds, and sending a message. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LukasaError, type MemoryView } from "lukasa-client";
import { useCallback, useEffect, useMemo } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { CHAT_PREFIX } from "../../data/console-chat.ts";
import type { Message, Mode } from "../../data/gateway.ts";
import { aboutMemory } from "../../features/chat/about.ts";
import { chatName } from "../../features/chat/live-chats.ts";
import { fullyStored, joined, messagesOf, roundsOf } from "../../features/chat/rounds.ts";
import { liveChats, useLiveRounds } from "../../features/chat/use-live-chats.ts";

/** Characters below which a chat always fits the window, so that the window is not requested. */
const MIN_WINDOW_CHARS = 40_000;
/** Polling until the turns of a finished round are stored. */
const POLL_INTERVAL_MS = 400;
const MAX_POLLS = 12;

export function useConversation(session: string | null, mode: Mode) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const name = chatName(session, mode);
  const live = useLiveRounds(name);
  const turns = useQuery({
    queryKey: ["sessions", session, "turns", true],
    enabled: session !== null,
    // A chat continues with all its turns, whatever domain they are about.
    queryFn: ({ signal }) =>
      lukasa.sessions.turns(session ?? "", { limit: 200, show_hidden: true }, { signal }).all(),
  });
  const context = useQuery({
    queryKey: ["sessions", session, "context"],
    // A chat without turns has no context.
    enabled: session !== null && (turns.data?.length ?? 0) > 0,
    queryFn: ({ signal }) => lukasa.sessions.context(session ?? "", { signal }),
  });
  const stored = useMemo(
    () => roundsOf(turns.data ?? [], context.data?.retrievals),
    [turns.data, context.data],
  );
  const long =
    (turns.data ?? []).reduce((sum, turn) => sum + turn.content.length, 0) > MIN_WINDOW_CHARS;
  const window = useQuery({
    queryKey: ["sessions", session, "window"],
    enabled: session !== null && long,
    queryFn: ({ signal }) => lukasa.sessions.window(session ?? "", {}, { signal }),
  });
  useEffect(() => liveChats.open(lukasa, name), [lukasa, name]);
  useEffect(() => liveChats.dropStored(name, fullyStored(stored, live)), [name, stored, live]);

  // The server stores the turns after the answer has ended; poll until they are there.
  const settling =
    session !== null && live.some(({ state }) => state === "done" || state === "stopped");
  useEffect(() => {
    if (!settling) return;
    let polls = 0;
    const poll = () => {
      if (++polls > MAX_POLLS) clearInterval(timer);
      else void queries.invalidateQueries({ queryKey: ["sessions"] });
    };
    const timer = setInterval(poll, POLL_INTERVAL_MS);
    poll();
    return () => clearInterval(timer);
  }, [settling, queries]);

  const rounds = useMemo(
    // Finished rounds get their live state back, matched by retrieval.
    () =>
      [...joined(stored, live)].map((round) =>
        live.includes(round) ? round : liveChats.withLiveState(round),
      ),
    [stored, live],
  );
  return {
    name,
    rounds,
    pending: session !== null && turns.isPending,
    missing: turns.error instanceof LukasaError && turns.error.status === 404,
    // Live rounds are shown even if the stored ones cannot be read.
    error: live.length > 0 ? null : turns.error,
    refetch: turns.refetch,
    cut: window.data && window.data.left_out > 0 ? window.data : undefined,
    answering: live.some(({ state }) => state === "asking" || state === "answering"),
  };
}

export type Conversation = ReturnType<typeof useConversation>;

/** The memory that a chat was opened from. */
export function useAbout(id: string | undefined) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", id, {}],
    enabled: id !== undefined,
    queryFn: ({ signal }) => lukasa.memories.get(id ?? "", { signal }),
  });
}

/** Session ids of incognito chats by mode; the server stores the id and no content. */
const incognito = new Map<string, string>();

/** Sends a message in a chat. A new chat is created first and gets its address. */
export function useSendMessage(
  session: string | null,
  mode: Mode,
  { rounds, cut }: Conversation,
  model: string | undefined,
  about: MemoryView | undefined,
) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useCallback(
    async (words: string) => {
      if (!model) return;
      const from = cut?.turns[0]?.number;
      const messages: Message[] = [
        ...(about ? [aboutMemory(about)] : []),
        ...(cut?.summary ? [summaryMessage(cut.summary)] : []),
        ...messagesOf(rounds, from),
        { role: "user", content: words },
      ];
      let [name, chat] = [chatName(session, mode), session];
      // Without the database a chat has no memory, but still works: do not wait for it.
      const quickly = { retries: 0, timeout: 2_000 };
      if (mode === "read-only") {
        chat = (rounds.length > 0 && incognito.get(mode)) || newChatId();
        incognito.set(mode, chat);
        const open = { id: chat, incognito: true };
        await lukasa.sessions.open(open, quickly).catch(() => undefined);
      } else if (mode === "on" && session === null) {
        chat = newChatId();
        name = chat;
        await lukasa.sessions.open({ id: chat }, quickly).catch(() => undefined);
        void queries.invalidateQueries({ queryKey: ["sessions"], exact: true });
        liveChats.open(lukasa, name);
        void navigate({
          to: "/chat/$session",
          params: { session: chat },
          search: { about: about?.id },
          replace: true,
        });
      }
      const after = Math.max(0, ...rounds.map((round) => round.turn ?? 0));
      await liveChats.send(lukasa, name, words, after, { model, messages, mode, session: chat });
    },
    [lukasa, queries, navigate, session, mode, rounds, cut, model, about],
  );
}

/** A new random session id. */
function newChatId(): string {
  const random = crypto.getRandomValues(new Uint8Array(6));
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${CHAT_PREFIX}${Date.now().toString(36)}-${hex}`;
}

function summaryMessage(summary: string): Message {
  const content = `What was said earlier in this conversation, in short:\n${summary}`;
  return { role: "system", content };
}
