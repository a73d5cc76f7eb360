/**
 * Where things come from and what rests on them: portraits, episodes, the turns behind a memory, and what
 * a turn was given. The keys begin as `app/live.tsx` knows them, so all of it is read again after a write.
 */

import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type DependentsView,
  type EvidenceView,
  type Lukasa,
  LukasaError,
  type MemoryView,
  type SessionView,
  type TurnView,
  type UsageView,
} from "lukasa-client";
import { useLukasa } from "../app/sign-in.tsx";
import { MEMORIES, type Memories } from "./store.ts";
import { firstWords, shown } from "./titles.ts";

export function usePortraits() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["portraits"],
    queryFn: ({ signal }) => lukasa.portraits.list({ signal }),
  });
}

/** What happened, in one chat or in all of them. */
export function useEpisodes(session?: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "episodes", session ?? null],
    queryFn: async ({ signal }) =>
      session
        ? lukasa.episodes.list({ session_id: session, limit: 200 }, { signal }).all()
        : (await lukasa.episodes.list({ limit: 200 }, { signal }).page()).data,
  });
}

/** What was learned from which turns, and how much was left out and why. */
export function usePasses(session?: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "passes", session ?? null],
    queryFn: ({ signal }) =>
      lukasa.learning.passes({ session_id: session, limit: 100 }, { signal }),
  });
}

/** One of the three things that memories can rest on. */
export type SourceName = { turn_id: string } | { episode_id: string } | { session_id: string };

export function useDependents(source: SourceName, wanted = true) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useQuery({
    queryKey: ["sessions", "dependents", source],
    queryFn: ({ signal }) => dependentsOf(lukasa, queries, source, signal),
    enabled: wanted,
  });
}

/**
 * What goes with a source and what stays. What somebody had saved in a chat rests on no turn of it, so the
 * server does not count it; it stays, and whoever takes the chat away is told.
 */
export async function dependentsOf(
  lukasa: Lukasa,
  queries: QueryClient,
  source: SourceName,
  signal?: AbortSignal,
): Promise<DependentsView> {
  const found = await lukasa.dependents(source, { signal });
  if (!("session_id" in source)) return found;
  const held = queries.getQueryData<Memories>(MEMORIES);
  const known = held?.complete
    ? [...held.byId.values()]
    : (await lukasa.memories.list({ limit: 200 }, { signal }).page()).data;
  const counted = new Set(found.memories.map(({ memory }) => memory.id));
  const saved = known
    .filter((one) => one.session_id === source.session_id && one.status === "active")
    .filter((one) => !counted.has(one.id));
  return {
    ...found,
    reached: { ...found.reached, kept: found.reached.kept + saved.length },
    memories: [...found.memories, ...saved.map((memory) => ({ memory, fate: "kept" }))],
  };
}

/** A chat. One that is gone for good is `null`, which is no error here. */
export function useOneSession(session: string | null | undefined) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", session, "itself"],
    queryFn: ({ signal }) => there(lukasa.sessions.get(session ?? "", { signal })),
    enabled: Boolean(session),
  });
}

/** A context that was given; `null` once it is too old to be kept. */
export function useRetrieval(id: string | null | undefined) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "retrieval", id],
    queryFn: ({ signal }) => there(lukasa.retrieval(id ?? "", { signal })),
    enabled: Boolean(id),
  });
}

/** When a memory was used, the latest first. */
export function useUsage(memory: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", memory, "usage"],
    queryFn: async ({ signal }) =>
      (await lukasa.memories.usage({ memory_id: memory, limit: 200 }, { signal }).page()).data,
  });
}

/** Something a memory rests on, down to the sentence where that is kept. */
export interface Ground {
  key: string;
  /** The words that speak for it. */
  quote?: string;
  turn?: TurnView;
  session?: SessionView;
  /** Why the turn is not there to be read: it was never kept, or it was taken away. */
  missing?: "policy" | "deleted";
}

/** What the server puts in a quotation's place where a chat's words are not kept. */
const NOT_KEPT = "source text not kept";

/** Everything a memory rests on. */
export function useGrounds(memory: MemoryView) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "grounds", memory.version_id],
    queryFn: ({ signal }) => groundsOf(lukasa, memory, signal),
  });
}

async function groundsOf(
  lukasa: Lukasa,
  memory: MemoryView,
  signal: AbortSignal,
): Promise<Ground[]> {
  const quoted = new Set(memory.evidence.map((one) => one.turn_id));
  const plain = memory.turn_ids.filter((id) => !quoted.has(id));
  const evidence: Partial<EvidenceView>[] = [
    ...memory.evidence,
    ...plain.map((turn_id) => ({ turn_id })),
  ];
  const chats = new Map<string, Promise<Chat>>();
  const chat = (id: string) => {
    const reading = chats.get(id) ?? readChat(lukasa, id, signal);
    chats.set(id, reading);
    return reading;
  };
  return Promise.all(
    evidence.map(async (one, at): Promise<Ground> => {
      const key = `${at} ${one.turn_id ?? ""}`;
      const unkept = one.description === NOT_KEPT;
      const quote = unkept ? undefined : one.description;
      if (!one.turn_id) return { key, quote };
      const found = await findTurn(lukasa, one.turn_id, memory.session_id, chat, signal);
      if (found.turn) return { key, quote, ...found };
      const policy = unkept || (found.session && found.session.keep_turns !== "full");
      return { key, quote, session: found.session, missing: policy ? "policy" : "deleted" };
    }),
  );
}

interface Chat {
  session?: SessionView;
  turns: TurnView[];
}

/** A chat with all that is left of it, and called by its first words if it has no title. */
async function readChat(lukasa: Lukasa, id: string, signal: AbortSignal): Promise<Chat> {
  const session = await there(lukasa.sessions.get(id, { signal }));
  if (!session || session.trashed_at) return { session: session ?? undefined, turns: [] };
  const turns = await there(lukasa.sessions.turns(id, { limit: 200 }, { signal }).all());
  const title = session.title || firstWords(shown(turns?.[0]));
  return { session: { ...session, title }, turns: turns ?? [] };
}

/** A turn is in the chat that the memory names, or in another where the same was said again. */
async function findTurn(
  lukasa: Lukasa,
  id: string,
  named: string | null | undefined,
  chat: (id: string) => Promise<Chat>,
  signal: AbortSignal,
): Promise<{ turn?: TurnView; session?: SessionView }> {
  const first = named ? await chat(named) : undefined;
  const turn = first?.turns.find((one) => one.id === id);
  if (turn) return { turn, session: first?.session };
  // Where words are not kept, nobody has to look for them elsewhere.
  if (first?.session && first.session.keep_turns !== "full") return { session: first.session };
  const rests = await there(lukasa.dependents({ turn_id: id }, { signal }));
  const other = rests?.episodes.find((one) => one.session_id !== named)?.session_id;
  const second = other ? await chat(other) : undefined;
  return {
    turn: second?.turns.find((one) => one.id === id),
    session: second?.session ?? first?.session,
  };
}

/** What is asked for, or `null` if there is no such thing. */
async function there<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof LukasaError && error.status === 404) return null;
    throw error;
  }
}

/** The answers that say they used a memory, each once, the latest first. */
export function answersIn(usage: readonly UsageView[]): UsageView[] {
  const seen = new Set<string>();
  return usage.filter((one) => {
    if (one.type === "retrieved" || !one.turn_id || seen.has(one.turn_id)) return false;
    seen.add(one.turn_id);
    return true;
  });
}

/** An answer that used a memory. */
export interface AnswerGiven {
  usage: UsageView;
  turn?: TurnView;
  session?: SessionView;
}

/** More chats than this are not opened to find the answers in them. */
const CHATS = 8;

/** Those answers, with what they said as far as it is still there. */
export function useAnswers(memory: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", memory, "answers"],
    queryFn: async ({ signal }): Promise<AnswerGiven[]> => {
      const list = lukasa.memories.usage({ memory_id: memory, limit: 200 }, { signal });
      const answers = answersIn((await list.page()).data);
      const names = [...new Set(answers.flatMap((one) => one.session_id ?? []))].slice(0, CHATS);
      const chats = new Map(
        await Promise.all(
          names.map(async (name) => [name, await readChat(lukasa, name, signal)] as const),
        ),
      );
      return answers.map((usage) => {
        const chat = chats.get(usage.session_id ?? "");
        const turn = chat?.turns.find((one) => one.id === usage.turn_id);
        return { usage, turn, session: chat?.session };
      });
    },
  });
}
