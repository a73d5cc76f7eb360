/**
 * The places of the beads: a lane for each area, time from left to right. Memories of the same time are
 * stacked around the string of their lane, and where there is no room for that they are one bead with a
 * number, so that ten thousand memories stay readable. Pure.
 */
import type { MemoryView } from "lukasa-client";

/** Heights and widths of the board, in pixels. */
export const AXIS_HEIGHT = 34;
/** Width of the names of the lanes; on narrow boards the names are above the beads. */
const GUTTER = 172;
const NARROW = 640;
const NAME_HEIGHT = 24;
/** Between the plot and its edges, so that no bead is cut. */
const PADDING = 14;
const MIN_LANE = 46;
const MAX_LANE = 168;
/** Pixels for one bead, from a few memories to many. Fingers need 44. */
const PITCHES = [56, 48, 40, 34, 28, 24] as const;
/** A bead takes at most this much of its lane and of the time, or a few would look like many. */
const MAX_LANE_SHARE = 0.7;
const MIN_COLUMNS = 22;
const CROWDED_PITCH = 36;
const FINGER_PITCH = 44;
/** The radius of a bead for each pixel of its pitch. */
const RADIUS_SHARE = 0.34;
const MAX_RADIUS_SHARE = 0.47;

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
  radius: number;
}

export interface Lane {
  /** The area, or an empty text for memories without one. */
  domain: string;
  /** Memories in the visible span. */
  count: number;
  top: number;
  /** Where the string of the lane is. */
  string: number;
  /** From left to right, and from the bottom up within a column. */
  beads: readonly Bead[];
}

/** The sizes of a board, which stay while time passes. */
export interface Plan {
  width: number;
  height: number;
  /** Where the plot begins and how wide it is. */
  left: number;
  plot: number;
  /** Space for one bead. */
  pitch: number;
  columns: number;
  /** How many beads fit into a column. */
  rows: number;
  laneHeight: number;
  /** Height of the name above the beads; 0 if it is beside them. */
  nameHeight: number;
}

/** A memory and its time on the axis. */
export interface Placed {
  memory: MemoryView;
  at: number;
}

/** The time of a memory on the axis, in milliseconds. */
export type TimeOf = (memory: MemoryView) => number;

/** When a memory was saved. One that was restored from an export may be known for longer than its id is old. */
export const savedAt: TimeOf = parsedOnce(({ created_at, known_from }) =>
  Math.min(Date.parse(created_at), Date.parse(known_from)),
);
/** Since when a memory is true. */
export const trueSince: TimeOf = parsedOnce(({ valid_from }) => Date.parse(valid_from));

/** Times are compared with every move. A changed memory is another object, so the cache is never stale. */
function parsedOnce(of: TimeOf): TimeOf {
  const parsed = new WeakMap<MemoryView, number>();
  return (memory) => {
    let at = parsed.get(memory);
    if (at === undefined) {
      at = of(memory);
      parsed.set(memory, at);
    }
    return at;
  };
}

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

/** Memories by area, each sorted by time. */
export function placesOf(
  memories: readonly MemoryView[],
  areas: readonly string[],
  timeOf: TimeOf,
): Placed[][] {
  const byArea = new Map<string, Placed[]>(areas.map((name) => [name, []]));
  for (const memory of memories)
    byArea.get(memory.domain ?? "")?.push({ memory, at: timeOf(memory) });
  return areas.map((name) => (byArea.get(name) ?? []).sort((a, b) => a.at - b.at));
}

/** The sizes of a board for these memories: the largest beads for which every stack fits its lane. */
export function planOf(
  places: readonly (readonly Placed[])[],
  span: Span,
  size: { width: number; height: number; finger: boolean; gutter?: number },
): Plan {
  const { width, finger } = size;
  const narrow = width < NARROW;
  const nameHeight = narrow ? NAME_HEIGHT : 0;
  const count = Math.max(1, places.length);
  const least = (finger ? FINGER_PITCH + 4 : MIN_LANE) + nameHeight;
  const share = Math.floor((size.height - AXIS_HEIGHT) / count);
  const laneHeight = Math.min(MAX_LANE, Math.max(least, share));
  const left = (narrow ? 0 : (size.gutter ?? GUTTER)) + PADDING;
  const plot = Math.max(1, width - left - PADDING);
  const fit = (pitch: number) => ({
    pitch,
    columns: Math.max(1, Math.floor(plot / pitch)),
    rows: Math.max(1, Math.floor((laneHeight - nameHeight - 4) / pitch)),
  });
  const holdsAll = ({ columns, rows }: { columns: number; rows: number }) =>
    places.every((some) => {
      let [column, there] = [-1, 0];
      for (const { at } of some) {
        if (at < span.from || at > span.to) continue;
        const here = columnOf(at, span, columns);
        there = here === column ? there + 1 : 1;
        column = here;
        if (there > rows) return false;
      }
      return true;
    });
  const body = laneHeight - nameHeight;
  const suits = ({ pitch, columns }: { pitch: number; columns: number }) =>
    pitch <= Math.max(CROWDED_PITCH, body * MAX_LANE_SHARE) &&
    (columns >= MIN_COLUMNS || pitch <= CROWDED_PITCH);
  const chosen = finger
    ? fit(FINGER_PITCH)
    : (PITCHES.map(fit).find((one) => suits(one) && holdsAll(one)) ?? fit(CROWDED_PITCH));
  return {
    ...chosen,
    width,
    height: AXIS_HEIGHT + count * laneHeight,
    left,
    plot,
    laneHeight,
    nameHeight,
  };
}

function columnOf(at: number, span: Span, columns: number): number {
  return Math.min(columns - 1, Math.floor(((at - span.from) / (span.to - span.from)) * columns));
}

/** Where a time is on the board, and the time of a place. */
export function xOf(plan: Plan, span: Span, at: number): number {
  return plan.left + ((at - span.from) / (span.to - span.from)) * plan.plot;
}

export function timeAt(plan: Plan, span: Span, x: number): number {
  const share = Math.min(1, Math.max(0, (x - plan.left) / plan.plot));
  return span.from + share * (span.to - span.from);
}

/** The lanes of these areas, in their order. */
export function lanesOf(
  places: readonly (readonly Placed[])[],
  areas: readonly string[],
  span: Span,
  plan: Plan,
): Lane[] {
  const { pitch, columns, rows, laneHeight, nameHeight } = plan;
  const step = plan.plot / columns;
  return areas.map((domain, lane) => {
    const top = AXIS_HEIGHT + lane * laneHeight;
    const string = top + nameHeight + (laneHeight - nameHeight) / 2;
    const byColumn = new Map<number, MemoryView[]>();
    for (const { memory, at } of places[lane] ?? []) {
      if (at < span.from || at > span.to) continue;
      const column = columnOf(at, span, columns);
      const there = byColumn.get(column);
      if (there) there.push(memory);
      else byColumn.set(column, [memory]);
    }
    let count = 0;
    const beads = [...byColumn].flatMap(([column, some]): Bead[] => {
      count += some.length;
      const x = plan.left + (column + 0.5) * step;
      if (some.length > rows)
        return [
          {
            id: `${domain} ${column}`,
            memories: some,
            x,
            y: string,
            radius: sizeOf(some.length, pitch),
          },
        ];
      return some.map((memory, at) => ({
        id: memory.id,
        memories: [memory],
        x,
        y: string + ((some.length - 1) / 2 - at) * pitch,
        radius: pitch * RADIUS_SHARE,
      }));
    });
    return { domain, count, top, string, beads };
  });
}

/** A bead of many is larger, up to its pitch. */
function sizeOf(count: number, pitch: number): number {
  const share = RADIUS_SHARE + 0.035 * Math.log2(count);
  return pitch * Math.min(MAX_RADIUS_SHARE, share);
}

/** The least time that is shown. */
const MIN_SPAN_MS = 3_600_000;

/** Zooms around a moment; a factor above 1 shows less time. Never beyond the whole span. */
export function zoomed(span: Span, whole: Span, factor: number, around: number): Span {
  const least = Math.min(MIN_SPAN_MS, whole.to - whole.from);
  const length = Math.max(least, Math.min((span.to - span.from) / factor, whole.to - whole.from));
  const share = (around - span.from) / (span.to - span.from);
  return within({ from: around - share * length, to: around + (1 - share) * length }, whole);
}

/** The span of these memories, with some room at both ends. */
export function spanOf(memories: readonly MemoryView[], whole: Span, timeOf: TimeOf): Span {
  const times = memories.map(timeOf);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const length = Math.max(MIN_SPAN_MS, (last - first) * 1.1);
  const middle = (first + last) / 2;
  return within({ from: middle - length / 2, to: middle + length / 2 }, whole);
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
