/** The round that is being answered: its start, and how the events of the stream change it. Pure. */
import type { StreamEvent, ToolEvent } from "../../data/gateway.ts";
import type { Call, Round } from "./rounds.ts";

/** A round that was just sent, after the turn with this number. */
export function startRound(key: string, words: string, after: number): Round {
  return {
    key,
    retrieval: null,
    asked: words,
    answer: "",
    at: new Date().toISOString(),
    number: after,
    turn: null,
    given: 0,
    marks: {},
    calls: [],
    degraded: [],
    state: "asking",
  };
}

/** The round after its stream has failed, or was stopped by the user. */
export function interruptRound(round: Round, error: unknown, stopped: boolean): Round {
  return {
    ...round,
    state: stopped ? "stopped" : "failed",
    error: stopped ? undefined : error,
    calls: round.calls.map((call) => ({ ...call, running: false })),
  };
}

/** The round after an event of the stream. */
export function applyEvent(round: Round, event: StreamEvent): Round {
  switch (event.kind) {
    case "begun":
      return {
        ...round,
        state: "answering",
        given: event.memories,
        retrieval: event.retrieval,
        degraded: event.degraded,
      };
    case "words":
      return { ...round, answer: round.answer + event.text };
    case "tool":
      return { ...round, calls: applyTool(round.calls, event.tool) };
  }
}

function applyTool(calls: readonly Call[], tool: ToolEvent): Call[] {
  // Some services reuse call ids: match the call that is running.
  const open = calls.findIndex((call) => call.running && call.id.startsWith(`${tool.id} `));
  const before = calls[open];
  if (tool.state === "running" || !before) return [...calls, startCall(tool, calls.length)];
  const done: Call = {
    ...before,
    running: false,
    failed: tool.failed ?? false,
    took: tool.took_ms ?? null,
    message: tool.message ?? null,
    ...foundIn(tool.result),
    shut: codeOf(tool.result) === "opt_in_needed" ? before.shut : null,
  };
  return calls.map((call, at) => (at === open ? done : call));
}

function startCall(tool: ToolEvent, place: number): Call {
  const { query, domain } = tool.arguments ?? {};
  return {
    id: `${tool.id} ${place}`,
    name: tool.name,
    query: typeof query === "string" ? query : null,
    memories: [],
    operation: null,
    failed: false,
    running: tool.state === "running",
    took: null,
    message: null,
    words: {},
    shut: typeof domain === "string" ? domain : null,
  };
}

interface Brief {
  id: string;
  content: string;
}

interface Result {
  memory?: Brief;
  memories?: Brief[];
  event?: { operation_id: string | null; memory_ids: string[] };
  error?: { code: string };
}

function codeOf(result: unknown): string | undefined {
  return ((result ?? {}) as Result).error?.code;
}

/** The memories of a tool result with their texts, and the operation that can be undone. */
function foundIn(result: unknown): Pick<Call, "memories" | "operation" | "words"> {
  const { memory, memories = [], event } = (result ?? {}) as Result;
  const briefs = memory ? [memory, ...memories] : memories;
  return {
    memories: event?.memory_ids ?? briefs.map((brief) => brief.id),
    operation: event?.operation_id ?? null,
    words: Object.fromEntries(briefs.map((brief) => [brief.id, brief.content])),
  };
}
