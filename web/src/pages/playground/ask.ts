/**
 * What is asked of the server and what its answers mean, without a page around it: the two requests,
 * and how each memory moved from arm to arm. Pure.
 */
import type { ContextView, Retrieve, SearchAnswer, SearchRequest } from "lukasa-client";
import type { Setting } from "./search.ts";

/** As many as a message that looks back calls for. */
const MEMORIES = 10;
const TURNS = 5;

/** The body of `POST /api/memory/retrieve`. */
export function retrieveBody(query: string, setting: Setting, timezone?: string): Retrieve {
  const { session, budget, window, domains, as_of, known_at, precise, freeze } = setting;
  return whole({
    query,
    session_id: session,
    freeze: session ? freeze : undefined,
    budget,
    window,
    domains,
    precise,
    as_of,
    known_at,
    timezone,
  });
}

/** The body of `POST /api/memory/search`, which tells what each arm made of the same message. */
export function searchBody(query: string, setting: Setting, timezone?: string): SearchRequest {
  const { domains, as_of, known_at, precise, fusion, rerank } = setting;
  return whole({
    query,
    limit: MEMORIES,
    turns: TURNS,
    domains,
    precise,
    as_of,
    known_at,
    timezone,
    fusion,
    rerank,
  });
}

/** Without the fields that say nothing. */
function whole<T extends object>(body: T): T {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as T;
}

export type Outcome =
  | { kind: "in"; mark: string }
  | { kind: "baseline"; mark: string }
  | { kind: "out"; reason: string }
  /** Retrieve had not asked for it: other settings, or the message calls for less. */
  | { kind: "unasked" };

/** The place of a turn: its chat, and its number there. */
export interface Said {
  session: string;
  turn: number;
}

/** A memory or a turn on its way through the arms. */
export interface Row {
  id: string;
  what: "memory" | "turn";
  text: string;
  /** Where a turn was said. */
  said?: Said;
  /** Its rank and score with each arm that found it. */
  arms: ReadonlyMap<string, { rank: number; score: number }>;
  fused: number;
  /** Its place in the answer. */
  last: number;
  score: number;
  relevance: number;
  matched: readonly string[];
  outcome: Outcome;
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
      ...row(turn.id, "turn", turn.content, why, at),
      said: { session: turn.session_id, turn: turn.number },
    })),
  ];
}

/** What became of each memory and turn that the context speaks of. What went in, went in. */
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
 * Whether the past was looked up for this message. Retrieve names everything it found, in or out; where
 * it names nothing and a search finds something, it did not look.
 */
export function verdict(
  context: ContextView,
  found: SearchAnswer,
): "looked" | "spared" | "nothing" {
  const { citations, left_out } = context.dynamic;
  if (citations.length + left_out.length > 0) return "looked";
  return found.memories.length + found.turns.length > 0 ? "spared" : "nothing";
}

/** The budget as it was spent: the rules apart from the rest of the baseline. */
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

/** How many bytes a prompt's text has on the wire. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The lines that only one of two contexts has, by what stands behind them. */
export function onlyIn(one: ContextView, other: ContextView): ContextView["soft"] {
  const name = (line: ContextView["soft"][number]) => line.version_id ?? line.turn_id ?? line.text;
  const has = new Set([...other.hard, ...other.soft].map(name));
  return [...one.hard, ...one.soft].filter((line) => !has.has(name(line)));
}

/** One memory or turn that a part of the prompt did without, and why each of them did. */
export interface Left {
  id: string;
  memory: boolean;
  reasons: readonly { part: "baseline" | "dynamic"; reason: string }[];
  relevance: number | null;
  /** The mark under which the other part has it after all. */
  mark?: string;
}

/** What was left out, each once: first what is nowhere in the prompt, then what came in the other way. */
export function leftOut(context: ContextView): Left[] {
  const outcomes = outcomesOf(context);
  const byId = new Map<string, Left>();
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
