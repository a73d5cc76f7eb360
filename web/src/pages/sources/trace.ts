/** Reads the trace of a retrieval, which the API gives as it was noted: what was given where, and what was left out. Pure. */
/** Where a memory or a turn stood: for each way of searching that found it, and when they were brought together. */
export interface Found {
  arms: { arm: string; rank: number }[];
  fused?: number;
}

export interface GivenPlace {
  part: "baseline" | "dynamic";
  /** Its place in that part, from one on. */
  rank: number;
  tokens: number;
  relevance?: number;
  found?: Found;
}

export interface LeftOut {
  memory?: string;
  turn?: string;
  session?: string;
  reason: string;
  relevance?: number;
  found?: Found;
}

export interface Trace {
  given: Map<string, GivenPlace>;
  leftOut: LeftOut[];
  budget?: { limit: number; baseline: number; dynamic: number };
  considered?: number;
}

export function readTrace(trace: unknown): Trace {
  const given = new Map<string, GivenPlace>();
  for (const part of ["baseline", "dynamic"] as const) {
    list(field(trace, part)).forEach((item, at) => {
      const place = {
        part,
        rank: at + 1,
        tokens: number(field(item, "tokens")) ?? 0,
        relevance: number(field(item, "relevance")),
        found: foundIn(item),
      };
      const ids = [field(field(item, "source"), "memory_id"), ...list(field(item, "also"))];
      for (const id of ids) if (typeof id === "string" && !given.has(id)) given.set(id, place);
    });
  }
  const budget = field(trace, "budget");
  const limit = number(field(budget, "limit"));
  return {
    given,
    leftOut: list(field(trace, "left_out")).map((item) => ({
      memory: text(field(field(item, "source"), "memory_id")),
      turn: text(field(field(item, "source"), "turn_id")),
      session: text(field(field(item, "source"), "session_id")),
      reason: text(field(item, "reason")) ?? "",
      relevance: number(field(item, "relevance")),
      found: foundIn(item),
    })),
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

/** The best place that each way gave it: neighbours and whole chats are the same way from further off. */
function foundIn(item: unknown): Found | undefined {
  const best = new Map<string, number>();
  for (const one of list(field(item, "ranks"))) {
    const arm = text(field(one, "arm"))?.split("_")[0];
    const rank = number(field(one, "rank"));
    if (arm && rank) best.set(arm, Math.min(rank, best.get(arm) ?? rank));
  }
  if (best.size === 0) return undefined;
  const arms = [...best].map(([arm, rank]) => ({ arm, rank }));
  return { arms: arms.sort((a, b) => a.rank - b.rank), fused: number(field(item, "fused_rank")) };
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
