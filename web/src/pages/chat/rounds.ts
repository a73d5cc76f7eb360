/**
 * A chat as the page shows it: rounds, each with what was asked, what was answered and what the model did
 * with memory meanwhile. Pure. What the server keeps and what is under way have the same shape, so that
 * a reload changes nothing.
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
  /** What came of it, in words; only while the page that saw it happen is open. */
  message: string | null;
  /** The words of its memories as they came; afterwards they are asked for by their ids. */
  words: Readonly<Record<string, string>>;
  /** The domain that has to be opened first, if that is why it failed. */
  shut: string | null;
}

export interface Round {
  key: string;
  /** The retrieval that gave it its memories. */
  retrieval: string | null;
  asked: string | null;
  answer: string;
  at: string;
  /** The number of its first turn, once it is kept; before that, of the last turn before it. */
  number: number;
  /** The number of the answer's turn, once it is kept. */
  turn: number | null;
  /** How many memories were in the prompt. */
  given: number;
  /** Which memory each mark of the prompt stands for. */
  marks: Readonly<Record<string, string>>;
  calls: readonly Call[];
  degraded: readonly string[];
  state: "asking" | "answering" | "done" | "stopped" | "failed";
  error?: unknown;
}

interface Kept {
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
  calls?: Kept[];
  baseline?: Item[];
  dynamic?: Item[];
  degraded?: string[];
}

/** The rounds of a chat, from what was said in it and what it was given. */
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
  // What a round was given was asked for after the question was heard and before the answer ended.
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

/** What is kept, and after it what is not kept yet; a round is one of the two. */
export function joined(kept: readonly Round[], live: readonly Round[]): Round[] {
  const pairs = paired(kept, live);
  const seen = new Map([...pairs].map(([one, other]) => [other, one]));
  // One that was seen happening goes on as it is until everything of it is kept, and then under its key.
  const shown = kept.map((round) => {
    const other = seen.get(round);
    if (!other) return round;
    if (!isWhole(round, other)) return { ...other, turn: round.turn };
    return { ...round, key: other.key, state: other.state, degraded: other.degraded };
  });
  return [...shown, ...live.filter((round) => !pairs.has(round))];
}

/** Which of the rounds that were seen happening are kept with all that was seen of them. */
export function whole(kept: readonly Round[], live: readonly Round[]): Round[] {
  const pairs = paired(kept, live);
  return live.filter((seen) => {
    const one = pairs.get(seen);
    return one !== undefined && isWhole(one, seen);
  });
}

/**
 * The kept round that each of those seen happening became. They have their retrieval in common; what was
 * said may be read before that is, and is then known by its words and its place.
 */
function paired(kept: readonly Round[], live: readonly Round[]): Map<Round, Round> {
  const pairs = new Map<Round, Round>();
  const free = new Set(kept);
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

function isWhole(kept: Round, seen: Round): boolean {
  return (
    (seen.state === "done" || seen.state === "stopped") &&
    kept.turn !== null &&
    kept.retrieval === seen.retrieval &&
    kept.calls.length >= seen.calls.length
  );
}

/** What the model is told was said so far; from the turn at which its window begins. */
export function messagesOf(rounds: readonly Round[], from = 0): Message[] {
  return rounds
    .filter((round) => round.turn === null || round.turn >= from)
    .filter((round) => round.state !== "failed")
    .flatMap((round) => [
      ...(round.asked ? [{ role: "user" as const, content: round.asked }] : []),
      ...(round.answer ? [{ role: "assistant" as const, content: round.answer }] : []),
    ]);
}
