/**
 * A chat as the page shows it: rounds, each with the message, the answer and the memory calls. Pure. Stored
 * and live rounds have the same shape, so that a reload changes nothing.
 */
import type { RetrievalView, TurnView } from "lukasa-client";
import type { Message } from "../../data/gateway.ts";

/** One call of a memory tool. */
export interface Call {
  id: string;
  name: string;
  query: string | null;
  memories: readonly string[];
  operation: string | null;
  failed: boolean;
  running: boolean;
  took: number | null;
  /** The result as text; only known to the page that ran the call. */
  message: string | null;
  /** The texts of its memories from the live event; after a reload they are fetched by id. */
  words: Readonly<Record<string, string>>;
  /** The domain that has to be turned on first, if that is why the call failed. */
  shut: string | null;
}

export interface Round {
  key: string;
  /** The retrieval of its context. */
  retrieval: string | null;
  asked: string | null;
  answer: string;
  at: string;
  /** The number of its first turn, once stored; before that, of the last turn before it. */
  number: number;
  /** The number of the answer's turn, once stored. */
  turn: number | null;
  /** How many memories were in the prompt. */
  given: number;
  /** Memory ids by citation mark of the prompt. */
  marks: Readonly<Record<string, string>>;
  calls: readonly Call[];
  degraded: readonly string[];
  state: "asking" | "answering" | "done" | "stopped" | "failed";
  error?: unknown;
}

interface TraceCall {
  id: string;
  name: string;
  query: string | null;
  memory_ids: string[];
  operation_id: string | null;
  failed: boolean;
  took_ms: number;
}

interface Item {
  mark: string;
  source?: { memory_id?: string };
}

interface Trace {
  calls?: TraceCall[];
  baseline?: Item[];
  dynamic?: Item[];
  degraded?: string[];
}

/** The stored rounds of a chat, from its turns and retrievals. */
export function roundsOf(
  turns: readonly TurnView[],
  retrievals: readonly RetrievalView[] = [],
): Round[] {
  const rounds: { round: Round; from: number; to: number }[] = [];
  for (const turn of turns) {
    const at = Date.parse(turn.said_at);
    const last = rounds.at(-1);
    if (turn.role === "user") {
      const round = { ...empty(turn), asked: turn.content };
      rounds.push({ round, from: at, to: Number.POSITIVE_INFINITY });
    } else if (turn.role === "assistant") {
      const open = last && last.round.turn === null ? last : undefined;
      const place = open ?? {
        round: empty(turn),
        from: at,
        to: at,
      };
      if (!open) rounds.push(place);
      place.round = { ...place.round, answer: turn.content, turn: turn.number };
      place.to = at;
    }
  }
  // The retrieval of a round lies between its question and the end of its answer.
  for (const retrieval of [...retrievals].reverse()) {
    const at = Date.parse(retrieval.at);
    const place = rounds.find(({ from, to }, index) => {
      const next = rounds[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return from <= at && at <= to && at < next;
    });
    if (place) place.round = { ...place.round, ...givenBy(retrieval) };
  }
  return rounds.map(({ round }) => round);
}

function empty({ number, said_at }: TurnView): Round {
  return {
    key: `turn-${number}`,
    retrieval: null,
    asked: null,
    answer: "",
    at: said_at,
    number,
    turn: null,
    given: 0,
    marks: {},
    calls: [],
    degraded: [],
    state: "done",
  };
}

function givenBy(retrieval: RetrievalView): Partial<Round> {
  const trace = (retrieval.trace ?? {}) as Trace;
  const items = [...(trace.baseline ?? []), ...(trace.dynamic ?? [])];
  const marks = items.flatMap(({ mark, source }) =>
    source?.memory_id ? [[mark, source.memory_id]] : [],
  );
  return {
    retrieval: retrieval.id,
    given: items.length,
    marks: Object.fromEntries(marks),
    degraded: trace.degraded ?? [],
    calls: (trace.calls ?? []).map((call, at) => ({
      id: `${call.id}-${at}`,
      name: call.name,
      query: call.query,
      memories: call.memory_ids,
      operation: call.operation_id,
      failed: call.failed,
      running: false,
      took: call.took_ms,
      message: null,
      words: {},
      shut: null,
    })),
  };
}

/** Stored rounds, followed by live rounds that are not stored yet; each round occurs once. */
export function joined(stored: readonly Round[], live: readonly Round[]): Round[] {
  const pairs = paired(stored, live);
  const seen = new Map([...pairs].map(([one, other]) => [other, one]));
  // A live round stays as it is until it is fully stored, and then keeps its key.
  const shown = stored.map((round) => {
    const other = seen.get(round);
    if (!other) return round;
    if (!isFullyStored(round, other)) return { ...other, turn: round.turn };
    return { ...round, key: other.key, state: other.state, degraded: other.degraded };
  });
  return [...shown, ...live.filter((round) => !pairs.has(round))];
}

/** The live rounds that are fully stored. */
export function fullyStored(stored: readonly Round[], live: readonly Round[]): Round[] {
  const pairs = paired(stored, live);
  return live.filter((seen) => {
    const one = pairs.get(seen);
    return one !== undefined && isFullyStored(one, seen);
  });
}

/**
 * Matches live rounds with stored ones, by retrieval. The turns may be read before the retrieval is; they are
 * then matched by message text and position.
 */
function paired(stored: readonly Round[], live: readonly Round[]): Map<Round, Round> {
  const pairs = new Map<Round, Round>();
  const free = new Set(stored);
  const pair = (seen: Round, fits: (round: Round) => boolean) => {
    const found = pairs.has(seen) ? undefined : [...free].find(fits);
    if (!found) return;
    free.delete(found);
    pairs.set(seen, found);
  };
  for (const seen of live) {
    pair(seen, (one) => one.retrieval !== null && one.retrieval === seen.retrieval);
  }
  for (const seen of live) {
    const words = seen.asked?.trim();
    pair(seen, (one) => {
      return one.retrieval === null && one.number > seen.number && one.asked?.trim() === words;
    });
  }
  return pairs;
}

function isFullyStored(stored: Round, seen: Round): boolean {
  return (
    (seen.state === "done" || seen.state === "stopped") &&
    stored.turn !== null &&
    stored.retrieval === seen.retrieval &&
    stored.calls.length >= seen.calls.length
  );
}

/** The messages for the model, from the turn at which its window begins. */
export function messagesOf(rounds: readonly Round[], from = 0): Message[] {
  return rounds
    .filter((round) => round.turn === null || round.turn >= from)
    .filter((round) => round.state !== "failed")
    .flatMap((round) => [
      ...(round.asked ? [{ role: "user" as const, content: round.asked }] : []),
      ...(round.answer ? [{ role: "assistant" as const, content: round.answer }] : []),
    ]);
}
