/** When each version of a memory was in use, from its known and its valid time. Pure. */
import type { MemoryView } from "lukasa-client";

/** Differences below this are the precision of ids, which a memory's first time is taken from. */
const SAME_TIME_MS = 1_000;

/** A version that was in use, with the time in which it was known and valid, in milliseconds. */
export interface KnownVersion {
  memory: MemoryView;
  from: number;
  /** Exclusive. */
  until: number;
}

const NOT_IN_USE = ["forgotten", "trashed", "proposed", "candidate"];

/** The time in which a version was in use; absent if it never was. */
export function usedIn(version: MemoryView): KnownVersion | undefined {
  // In a history, a version that is no longer known and was in use is "superseded".
  if (NOT_IN_USE.includes(version.status)) return undefined;
  const from = Math.max(Date.parse(version.known_from), Date.parse(version.valid_from));
  const until = Math.min(endOf(version.known_until), endOf(version.valid_until));
  return from < until ? { memory: version, from, until } : undefined;
}

function endOf(time: string | null | undefined): number {
  return time ? Date.parse(time) : Number.POSITIVE_INFINITY;
}

/** Whether a memory may have versions that are no longer known. */
export function hasChanged(memory: MemoryView): boolean {
  return (
    memory.version > 1 ||
    memory.status === "forgotten" ||
    memory.status === "trashed" ||
    Date.parse(memory.known_from) - Date.parse(memory.created_at) > SAME_TIME_MS
  );
}

/** The versions in use at an instant: one for each memory. */
export function knownAt(versions: readonly KnownVersion[], at: number): MemoryView[] {
  const found: MemoryView[] = [];
  for (const { memory, from, until } of versions) if (from <= at && at < until) found.push(memory);
  return found;
}

/** How many memories were in use at each of these instants, which ascend. */
export function growthOf(versions: readonly KnownVersion[], times: readonly number[]): number[] {
  const changes = Array<number>(times.length + 1).fill(0);
  const add = (at: number, by: number) => {
    const place = firstFrom(times, at);
    changes[place] = (changes[place] ?? 0) + by;
  };
  for (const { from, until } of versions) {
    add(from, 1);
    add(until, -1);
  }
  let count = 0;
  return times.map((_, at) => {
    count += changes[at] ?? 0;
    return count;
  });
}

/** The place of the first of these ascending times that is not before `at`. */
function firstFrom(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
