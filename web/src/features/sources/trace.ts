/** Reads the stored trace of a retrieval: included items with their place, and what was left out. Pure. */
/** The ranks of a memory, a turn or an episode: by search arm, and after fusion. */
export interface SearchRanks {
  arms: { arm: string; rank: number }[];
  fused?: number;
}

export interface PromptPosition {
  part: "baseline" | "dynamic";
  /** Its rank in that part, starting at 1. */
  rank: number;
  tokens: number;
  relevance?: number;
}

export interface ExcludedMemory {
  memory?: string;
  turn?: string;
  episode?: string;
  session?: string;
  reason: string;
  relevance?: number;
}

export interface Trace {
  given: Map<string, PromptPosition>;
  excluded: ExcludedMemory[];
  /** By the id of the memory, turn or episode; empty in older traces. */
  found: Map<string, SearchRanks>;
  budget?: { limit: number; baseline: number; dynamic: number };
  considered?: number;
}

export function readTrace(trace: unknown): Trace {
  const given = new Map<string, PromptPosition>();
  for (const part of ["baseline", "dynamic"] as const) {
    list(field(trace, part)).forEach((item, at) => {
      const place = {
        part,
        rank: at + 1,
        tokens: number(field(item, "tokens")) ?? 0,
        relevance: number(field(item, "relevance")),
      };
      const ids = [field(field(item, "source"), "memory_id"), ...list(field(item, "also"))];
      for (const id of ids) if (typeof id === "string" && !given.has(id)) given.set(id, place);
    });
  }
  const budget = field(trace, "budget");
  const limit = number(field(budget, "limit"));
  return {
    given,
    excluded: list(field(trace, "left_out")).map((item) => ({
      memory: text(field(field(item, "source"), "memory_id")),
      turn: text(field(field(item, "source"), "turn_id")),
      episode: text(field(field(item, "source"), "episode_id")),
      session: text(field(field(item, "source"), "session_id")),
      reason: text(field(item, "reason")) ?? "",
      relevance: number(field(item, "relevance")),
    })),
    found: searchRanksOf(trace),
    budget: limit
      ? {
          limit,
          baseline: number(field(budget, "baseline")) ?? 0,
          dynamic: number(field(budget, "dynamic")) ?? 0,
        }
      : undefined,
    considered: number(field(trace, "considered")),
  };
}

/** The arms that have variants, with neighbours or whole chats. */
const VARIANT = /^(keyword|vector)_.*/;

/** The best rank of each memory, turn or episode in each arm, by id. The variants of an arm count as the same arm. */
function searchRanksOf(trace: unknown): Map<string, SearchRanks> {
  const found = new Map<string, SearchRanks>();
  for (const item of list(field(trace, "found"))) {
    const source = field(item, "source");
    const ids = ["memory_id", "turn_id", "episode_id"].map((name) => text(field(source, name)));
    const id = ids.find((one) => one !== undefined);
    const best = new Map<string, number>();
    for (const one of list(field(item, "arms"))) {
      const arm = text(field(one, "arm"))?.replace(VARIANT, "$1");
      const rank = number(field(one, "rank"));
      if (arm && rank) best.set(arm, Math.min(rank, best.get(arm) ?? rank));
    }
    const arms = [...best].map(([arm, rank]) => ({ arm, rank })).sort((a, b) => a.rank - b.rank);
    if (id && arms.length > 0) {
      found.set(id, { arms, fused: number(field(item, "fused_rank")) });
    }
  }
  return found;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
