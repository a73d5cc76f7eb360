/**
 * Request bodies of the playground, and the evaluation of both responses: ranks by arm, outcomes and budget.
 * Pure.
 */
import type { ContextView, Retrieve, SearchAnswer, SearchRequest } from "lukasa-client";
import { turnText } from "../../data/hidden.ts";
import type { Setting } from "./params.ts";

/** Search limits, the same as of a retrieval. */
const MAX_MEMORIES = 10;
const MAX_TURNS = 5;

/** The body of `POST /api/memory/retrieve`. */
export function retrieveBody(query: string, setting: Setting, timezone?: string): Retrieve {
  const { session, budget, window, domains, as_of, known_at, precise, anyway, freeze } = setting;
  return withoutUnset({
    query,
    session_id: session,
    freeze: session ? freeze : undefined,
    budget,
    window,
    domains,
    precise,
    // Without counts the server decides from the message whether it needs a search.
    limit: anyway && MAX_MEMORIES,
    turns: anyway && MAX_TURNS,
    as_of,
    known_at,
    timezone,
    // A try is not a use of a memory, and not counted in the statistics.
    preview: true,
  });
}

/** The body of `POST /api/memory/search`, which returns the ranks of each arm for the same message. */
export function searchBody(query: string, setting: Setting, timezone?: string): SearchRequest {
  const { domains, as_of, known_at, precise, fusion, rerank } = setting;
  return withoutUnset({
    query,
    limit: MAX_MEMORIES,
    turns: MAX_TURNS,
    min_relevance: 0,
    domains,
    precise,
    as_of,
    known_at,
    timezone,
    fusion,
    rerank,
  });
}

/** Removes undefined fields. */
function withoutUnset<T extends object>(body: T): T {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as T;
}

export type Outcome =
  | { kind: "in"; mark: string }
  | { kind: "baseline"; mark: string }
  | { kind: "out"; reason: string }
  /** Not part of the retrieval: other settings, or fewer results were requested. */
  | { kind: "unasked" };

/** The place of a turn: its chat, and its number there. */
export interface TurnPlace {
  session: string;
  turn: number;
}

/** A memory or a turn with its ranks. */
export interface Row {
  id: string;
  what: "memory" | "turn";
  text: string;
  /** The place of a turn. */
  place?: TurnPlace;
  /** Rank and score by arm. */
  arms: ReadonlyMap<string, { rank: number; score: number }>;
  fused: number;
  /** Its rank in the response. */
  last: number;
  score: number;
  relevance: number;
  matched: readonly string[];
  outcome: Outcome;
}

/** Whether a reranker changed the order. Ranks may have gaps, where something was left out. */
export function isReranked(rows: readonly Row[]): boolean {
  return rows.some((row, at) => row.fused < (rows[at - 1]?.fused ?? 0));
}

export function rowsOf(found: SearchAnswer, context: ContextView): Row[] {
  const outcomes = outcomesOf(context);
  const row = (
    id: string,
    what: Row["what"],
    text: string,
    why: SearchAnswer["memories"][number]["why"],
    at: number,
  ): Row => ({
    id,
    what,
    text,
    arms: new Map(why.arms.map(({ arm, rank, score }) => [arm, { rank, score }])),
    fused: why.fused_rank,
    last: at + 1,
    score: why.score,
    relevance: why.relevance,
    matched: why.matched,
    outcome: outcomes.get(id) ?? { kind: "unasked" },
  });
  return [
    ...found.memories.map((one, at) =>
      row(one.memory.id, "memory", one.memory.content, one.why, at),
    ),
    ...found.turns.map(({ turn, why }, at) => ({
      ...row(turn.id, "turn", turnText(turn), why, at),
      place: { session: turn.session_id, turn: turn.number },
    })),
  ];
}

/** The outcome of each memory and turn of the context. Inclusion in one part takes precedence. */
export function outcomesOf(context: ContextView): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  const { baseline, dynamic } = context;
  for (const { memory_id, turn_id, reason } of [...baseline.left_out, ...dynamic.left_out]) {
    const id = memory_id ?? turn_id;
    if (id) outcomes.set(id, { kind: "out", reason });
  }
  for (const [kind, part] of [["in", dynamic] as const, ["baseline", baseline] as const]) {
    for (const { memory_id, turn_id, also_memory_ids, mark } of part.citations) {
      for (const id of [memory_id, turn_id, ...(also_memory_ids ?? [])]) {
        if (id) outcomes.set(id, { kind, mark });
      }
    }
  }
  return outcomes;
}

/**
 * Whether memory was searched for this message. A retrieval lists everything it found, included or left out:
 * if it lists nothing while a search finds something, it did not search.
 */
export function verdict(
  context: ContextView,
  found: SearchAnswer,
): "looked" | "spared" | "nothing" {
  const { citations, left_out } = context.dynamic;
  if (citations.length + left_out.length > 0) return "looked";
  return found.memories.length + found.turns.length > 0 ? "spared" : "nothing";
}

/** The used budget: rules counted separately from the rest of the baseline. */
export function spent(context: ContextView): { baseline: number; rules: number; dynamic: number } {
  const rules = context.baseline.citations
    .filter((one) => context.hard.some((hard) => hard.mark === one.mark))
    .reduce((sum, one) => sum + one.tokens, 0);
  return {
    baseline: context.budget.baseline - rules,
    rules,
    dynamic: context.budget.dynamic,
  };
}

export const STAGES = ["embed", "load", "rank", "fetch", "rerank"] as const;

export function total(took: ContextView["took_ms"]): number {
  return STAGES.reduce((sum, stage) => sum + took[stage], 0);
}

/** The size of a text in UTF-8 bytes. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Lines that only the first of two contexts has, compared by memory or turn. */
export function onlyIn(one: ContextView, other: ContextView): ContextView["soft"] {
  const name = (line: ContextView["soft"][number]) => line.version_id ?? line.turn_id ?? line.text;
  const has = new Set([...other.hard, ...other.soft].map(name));
  return [...one.hard, ...one.soft].filter((line) => !has.has(name(line)));
}

/** A memory or turn that was left out of a part of the prompt, with the reasons. */
export interface Exclusion {
  id: string;
  memory: boolean;
  reasons: readonly { part: "baseline" | "dynamic"; reason: string }[];
  relevance: number | null;
  /** Its mark in the other part, if it is included there. */
  mark?: string;
}

/** What was left out, each once: first what is nowhere in the prompt, then what is in the other part. */
export function exclusionsOf(context: ContextView): Exclusion[] {
  const outcomes = outcomesOf(context);
  const byId = new Map<string, Exclusion>();
  for (const part of ["dynamic", "baseline"] as const) {
    for (const { memory_id, turn_id, reason, relevance } of context[part].left_out) {
      const id = memory_id ?? turn_id ?? "";
      const outcome = outcomes.get(id);
      const before = byId.get(id);
      byId.set(id, {
        id,
        memory: Boolean(memory_id),
        reasons: [...(before?.reasons ?? []), { part, reason }],
        relevance: before?.relevance ?? relevance ?? null,
        mark: outcome && "mark" in outcome ? outcome.mark : undefined,
      });
    }
  }
  const all = [...byId.values()];
  return [...all.filter((one) => !one.mark), ...all.filter((one) => one.mark)];
}
