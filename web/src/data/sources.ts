/**
 * Queries for sources and dependents: portraits, episodes, the turns behind a memory, and the context of a
 * turn. The query keys start with those that `app/live-provider.tsx` invalidates, so they are refetched after a
 * write.
 */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type EpisodeView,
  type EvidenceView,
  type Lukasa,
  LukasaError,
  type MemoryView,
  type SessionView,
  type TurnView,
  type UsageView,
} from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { answerOf } from "./answer-uses.ts";
import { shownTitle, visibleText } from "./hidden.ts";
import { firstWords } from "./titles.ts";

export function usePortraits() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["portraits"],
    queryFn: ({ signal }) => lukasa.portraits.list({ signal }),
  });
}

/** Episodes of one chat or of all chats. Those about a domain that is off have no text, unless `show_hidden` is set. */
export function useEpisodes(session?: string, show_hidden = false) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "episodes", session ?? null, show_hidden],
    queryFn: async ({ signal }) =>
      session
        ? lukasa.episodes.list({ session_id: session, limit: 200, show_hidden }, { signal }).all()
        : (await lukasa.episodes.list({ limit: 200, show_hidden }, { signal }).page()).data,
    placeholderData: (before, query) =>
      query?.queryKey[2] === (session ?? null) ? before : undefined,
  });
}

/** Learning passes: what was learned from which turns, and what was left out and why. */
export function usePasses(session?: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "passes", session ?? null],
    queryFn: ({ signal }) =>
      lukasa.learning.passes({ session_id: session, limit: 100 }, { signal }),
  });
}

/** Fetches chats and passes again, after a write that the server does not announce to them. */
export function useRefreshSources(): () => void {
  const queries = useQueryClient();
  return () => void queries.invalidateQueries({ queryKey: ["sessions"] });
}

/** A source of memories: a turn, an episode or a chat. */
export type SourceName = { turn_id: string } | { episode_id: string } | { session_id: string };

/** What is removed with a source and what stays. */
export function useDependents(source: SourceName, wanted = true) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "dependents", source],
    queryFn: ({ signal }) => lukasa.dependents(source, { signal }),
    enabled: wanted,
  });
}

/**
 * What depends on an episode. It is read after each reading of the list, and not at the same time: an edited
 * episode has another id in the list, and the old id would not be found. `listedAt` is when the list was read.
 */
export function useEpisodeDependents(episode_id: string, listedAt: number) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["episode dependents", episode_id, listedAt],
    queryFn: ({ signal }) => lukasa.dependents({ episode_id }, { signal }),
    placeholderData: (before, query) => (query?.queryKey[1] === episode_id ? before : undefined),
    gcTime: 0,
  });
}

/** Shows an edited episode in place of the one that it replaces, and reads the chats again. */
export function useReplaceEpisode(): (id: string, edited: EpisodeView) => Promise<void> {
  const queries = useQueryClient();
  return async (id, edited) => {
    queries.removeQueries({ queryKey: ["sessions", "dependents", { episode_id: id }] });
    queries.setQueriesData<EpisodeView[]>({ queryKey: ["sessions", "episodes"] }, (all) =>
      all?.map((one) => (one.id === id ? edited : one)),
    );
    await queries.invalidateQueries({ queryKey: ["sessions"] });
  };
}

/** States of learning that end soon. */
const LEARNING_NOW = new Set(["queued", "running"]);
const LEARNING_POLL_MS = 3_000;

/** How often to ask about a chat in this state: learning ends without an event if nothing was learned. */
export function learningPoll(state: string | null | undefined): number | false {
  return LEARNING_NOW.has(state ?? "") ? LEARNING_POLL_MS : false;
}

/** A chat; `null` if it no longer exists. A title about a domain that is off is hidden, unless `show_hidden` is set. */
export function useOneSession(session: string | null | undefined, show_hidden = false) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", session, "itself", show_hidden],
    queryFn: ({ signal }) => orNull(lukasa.sessions.get(session ?? "", { show_hidden, signal })),
    enabled: Boolean(session),
    placeholderData: (before) => (before?.id === session ? before : undefined),
    refetchInterval: ({ state }) => learningPoll(state.data?.learning?.state),
  });
}

/** A stored retrieval; `null` once it has expired. */
export function useRetrieval(id: string | null | undefined) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "retrieval", id],
    queryFn: ({ signal }) => orNull(lukasa.retrieval(id ?? "", { signal })),
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

/** A piece of evidence of a memory, with its turn and quote where they are stored. */
export interface Evidence {
  key: string;
  /** The quoted text. */
  quote?: string;
  /** What an assistant or an application describes as evidence: not a quotation. */
  described?: boolean;
  turn?: TurnView;
  session?: SessionView;
  /** Why the turn is missing: never stored by policy, or deleted. */
  missing?: "policy" | "deleted";
}

/** The server's placeholder for a quote whose text is not stored. */
const NOT_KEPT = "source text not kept";

/** The evidence of a memory. */
export function useEvidence(memory: MemoryView) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["sessions", "evidence", memory.version_id],
    queryFn: ({ signal }) => evidenceOf(lukasa, memory, signal),
  });
}

async function evidenceOf(
  lukasa: Lukasa,
  memory: MemoryView,
  signal: AbortSignal,
): Promise<Evidence[]> {
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
    evidence.map(async (one, at): Promise<Evidence> => {
      const key = `${at} ${one.turn_id ?? ""}`;
      const unkept = one.description === NOT_KEPT;
      const quote = unkept ? undefined : one.description;
      if (!one.turn_id) return { key, quote, described: one.type !== "quote" };
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

/** A chat with its remaining turns, titled by its first words if it has no title. */
async function readChat(lukasa: Lukasa, id: string, signal: AbortSignal): Promise<Chat> {
  const session = await orNull(lukasa.sessions.get(id, { signal }));
  if (!session || session.trashed_at) return { session: session ?? undefined, turns: [] };
  const turns = await orNull(lukasa.sessions.turns(id, { limit: 200 }, { signal }).all());
  const title = shownTitle(session) || firstWords(visibleText(turns?.[0]));
  return { session: { ...session, title }, turns: turns ?? [] };
}

/** Finds a turn in the chat that the memory names, or in another chat where the same was said again. */
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
  // A chat whose text is not stored has no turns to look for elsewhere.
  if (first?.session && first.session.keep_turns !== "full") return { session: first.session };
  const rests = await orNull(lukasa.dependents({ turn_id: id }, { signal }));
  const other = rests?.episodes.find((one) => one.session_id !== named)?.session_id;
  const second = other ? await chat(other) : undefined;
  return {
    turn: second?.turns.find((one) => one.id === id),
    session: second?.session ?? first?.session,
  };
}

/** The result of a request, or `null` for 404. */
async function orNull<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof LukasaError && error.status === 404) return null;
    throw error;
  }
}

/** Usage entries of answers that report using a memory, one per answer, the latest first. */
export function answersIn(usage: readonly UsageView[]): UsageView[] {
  const seen = new Set<string>();
  return usage.filter((one) => {
    const answer = answerOf(one);
    if (!answer || seen.has(answer)) return false;
    seen.add(answer);
    return true;
  });
}

/** An answer that used a memory. */
export interface UsedAnswer {
  usage: UsageView;
  turn?: TurnView;
  session?: SessionView;
}

/** Chats read at most to find the text of answers. */
const MAX_CHATS = 8;

/** The answers that used a memory, with their turns where these are still stored. */
export function useAnswers(memory: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", memory, "answers"],
    queryFn: async ({ signal }): Promise<UsedAnswer[]> => {
      const list = lukasa.memories.usage({ memory_id: memory, limit: 200 }, { signal });
      const answers = answersIn((await list.page()).data);
      const names = [...new Set(answers.flatMap((one) => one.session_id ?? []))].slice(
        0,
        MAX_CHATS,
      );
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
