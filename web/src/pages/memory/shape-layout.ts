/**
 * The places of the beads: a lane for each area, time from left to right. Memories of the same moment are
 * stacked, and many of them are one bead with a number, so that ten thousand memories stay readable. Pure.
 */
import type { MemoryView } from "lukasa-client";

export const BEAD = { column: 18, row: 17, padding: 12, maxStack: 4 } as const;

export interface Span {
  from: number;
  to: number;
}

export interface Bead {
  id: string;
  /** One memory, or those of a column that are too many to stack. */
  memories: readonly MemoryView[];
  x: number;
  y: number;
}

export interface Lane {
  /** The area, or an empty text for memories without one. */
  domain: string;
  /** Memories in the visible span. */
  count: number;
  top: number;
  height: number;
  /** Where the string of the lane is, on which the lowest beads are. */
  string: number;
  /** From left to right, and from the bottom up within a column. */
  beads: readonly Bead[];
}

/** The time of a memory on the axis, in milliseconds. */
export type TimeOf = (memory: MemoryView) => number;

/** When a memory was saved. */
export const savedAt: TimeOf = (memory) => Date.parse(memory.created_at);
/** Since when a memory is true. */
export const trueSince: TimeOf = (memory) => Date.parse(memory.valid_from);

/** Up to this share of the memories may be so old that they would squeeze all others together. */
const OUTLIERS = 0.05;
const MAX_STRETCH = 0.25;

/**
 * The span from the first memory to now, with some room at both ends. A few very old memories do not stretch
 * it: they are at its start.
 */
export function wholeSpan(
  memories: readonly MemoryView[],
  now: number,
  timeOf: TimeOf = savedAt,
): Span {
  const times = memories.map(timeOf).sort((a, b) => a - b);
  const early = times[Math.floor(times.length * OUTLIERS)] ?? now;
  const first = Math.max(times[0] ?? now, early - (now - early) * MAX_STRETCH);
  const room = Math.max((now - first) * 0.02, 60_000);
  return { from: first - room, to: now + room };
}

/** Times outside of the whole span are at its ends. */
export function clamped(timeOf: TimeOf, whole: Span): TimeOf {
  return (memory) => Math.min(whole.to, Math.max(whole.from, timeOf(memory)));
}

/** Areas by their number of memories, the largest first; memories without an area are last. */
export function areasOf(memories: readonly MemoryView[]): string[] {
  const counts = new Map<string, number>();
  for (const { domain } of memories) counts.set(domain ?? "", (counts.get(domain ?? "") ?? 0) + 1);
  return [...counts]
    .sort(([a, many], [b, more]) =>
      a === "" ? 1 : b === "" ? -1 : more - many || a.localeCompare(b),
    )
    .map(([name]) => name);
}

/** The lanes of these areas, with the memories that were saved up to `until`. Beads are larger by `scale`. */
export function lanesOf(
  memories: readonly MemoryView[],
  areas: readonly string[],
  span: Span,
  until: number,
  width: number,
  scale = 1,
  timeOf: TimeOf = savedAt,
): Lane[] {
  const row = BEAD.row * scale;
  const columns = Math.max(1, Math.floor(width / (BEAD.column * scale)));
  const byArea = new Map<string, Map<number, MemoryView[]>>(areas.map((name) => [name, new Map()]));
  for (const memory of memories) {
    const at = timeOf(memory);
    const lane = byArea.get(memory.domain ?? "");
    if (!lane || at < span.from || at > span.to) continue;
    const share = (at - span.from) / (span.to - span.from);
    const column = Math.min(columns - 1, Math.floor(share * columns));
    const there = lane.get(column);
    if (there) there.push(memory);
    else lane.set(column, [memory]);
  }
  let top = 0;
  return areas.map((domain) => {
    const places = [...(byArea.get(domain) ?? [])].sort(([a], [b]) => a - b);
    // By all memories of the span, so that a lane keeps its height while time passes.
    const stacks = places.map(([, some]) => (some.length > BEAD.maxStack ? 1 : some.length));
    const height = Math.max(2, ...stacks) * row + BEAD.padding;
    const bottom = top + height - BEAD.padding / 2 - row / 2;
    const beads = places.flatMap(([column, all]): Bead[] => {
      const some = all.filter((memory) => timeOf(memory) <= until);
      if (some.length === 0) return [];
      const x = (column + 0.5) * (width / columns);
      if (all.length > BEAD.maxStack)
        return [{ id: `${domain} ${column}`, memories: some, x, y: bottom - row / 2 }];
      return some
        .sort((a, b) => timeOf(a) - timeOf(b))
        .map((memory, at) => ({ id: memory.id, memories: [memory], x, y: bottom - at * row }));
    });
    const count = beads.reduce((sum, bead) => sum + bead.memories.length, 0);
    const lane = { domain, count, top, height, string: bottom, beads };
    top += height;
    return lane;
  });
}

/** Zooms around a moment; a factor above 1 shows less time. Never beyond the whole span. */
export function zoomed(span: Span, whole: Span, factor: number, around: number): Span {
  const length = Math.min((span.to - span.from) / factor, whole.to - whole.from);
  const share = (around - span.from) / (span.to - span.from);
  return within({ from: around - share * length, to: around + (1 - share) * length }, whole);
}

/** Moves a span by a share of its length. */
export function moved(span: Span, whole: Span, by: number): Span {
  const step = (span.to - span.from) * by;
  return within({ from: span.from + step, to: span.to + step }, whole);
}

function within(span: Span, whole: Span): Span {
  const late = Math.max(0, span.to - whole.to);
  const from = Math.max(whole.from, span.from - late);
  return { from, to: Math.min(whole.to, from + (span.to - span.from)) };
}

/** The bead that an arrow key moves to. */
export function neighbour(lanes: readonly Lane[], id: string, key: string): Bead | undefined {
  const at = lanes.findIndex((lane) => lane.beads.some((bead) => bead.id === id));
  const lane = lanes[at];
  const index = lane?.beads.findIndex((bead) => bead.id === id) ?? -1;
  const bead = lane?.beads[index];
  if (!lane || !bead) return undefined;
  if (key === "ArrowRight") return lane.beads[index + 1];
  if (key === "ArrowLeft") return lane.beads[index - 1];
  if (key === "Home") return lane.beads[0];
  if (key === "End") return lane.beads.at(-1);
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (step === 0) return undefined;
  for (let next = at + step; lanes[next]; next += step) {
    const nearest = [...(lanes[next]?.beads ?? [])].sort(
      (a, b) => Math.abs(a.x - bead.x) - Math.abs(b.x - bead.x),
    )[0];
    if (nearest) return nearest;
  }
  return undefined;
}

/** Equal periods of a span for the table: the number of memories of each area. */
export function countsOf(
  memories: readonly MemoryView[],
  areas: readonly string[],
  span: Span,
  until: number,
  periods: number,
  timeOf: TimeOf = savedAt,
): { from: number; counts: number[] }[] {
  const length = (span.to - span.from) / periods;
  const places = new Map(areas.map((name, at) => [name, at]));
  const rows = Array.from({ length: periods }, (_, at) => ({
    from: span.from + at * length,
    counts: areas.map(() => 0),
  }));
  for (const memory of memories) {
    const at = timeOf(memory);
    const place = places.get(memory.domain ?? "");
    const row = rows[Math.min(periods - 1, Math.floor((at - span.from) / length))];
    if (place === undefined || !row || at > until || at < span.from || at > span.to) continue;
    row.counts[place] = (row.counts[place] ?? 0) + 1;
  }
  return rows;
}
