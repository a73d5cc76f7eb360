/** The time axis of the beads: ticks on the boundaries of minutes, hours, days, weeks, months or years. Pure. */

import { dateFormat } from "../../i18n/formats.ts";
import type { Span } from "./shape-layout.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type Unit = "minute" | "hour" | "day" | "month" | "year";

interface Step {
  unit: Unit;
  count: number;
  /** Its approximate length. */
  ms: number;
}

const step = (unit: Unit, count: number, ms: number): Step => ({ unit, count, ms: count * ms });
const STEPS: readonly Step[] = [
  ...[1, 5, 15, 30].map((count) => step("minute", count, MINUTE_MS)),
  ...[1, 3, 6, 12].map((count) => step("hour", count, HOUR_MS)),
  ...[1, 7].map((count) => step("day", count, DAY_MS)),
  ...[1, 3, 6].map((count) => step("month", count, 30.4 * DAY_MS)),
  ...[1, 2, 5, 10, 20, 50].map((count) => step("year", count, 365 * DAY_MS)),
];
const LONGEST = step("year", 100, 365 * DAY_MS);

export interface Tick {
  at: number;
  label: string;
  /** With the year, or the day of an hour: for the first label that is shown. */
  full: string;
  /** Where a year begins, or a day between hours: its label says so. */
  major: boolean;
}

/** The ticks of a span, each at least `gap` of `width` pixels apart, in a time zone. */
export function ticksOf(
  span: Span,
  width: number,
  gap: number,
  locale: string,
  timeZone: string | null,
): Tick[] {
  const perPixel = (span.to - span.from) / Math.max(1, width);
  const chosen = STEPS.find(({ ms }) => ms / perPixel >= gap) ?? LONGEST;
  const clock = zoneClock(timeZone);
  const first = floorLocal(clock.local(span.from), chosen);
  const words = formats(locale, chosen.unit);
  const ticks: Tick[] = [];
  for (let place = 0; ticks.length < 200; place++) {
    const local = addLocal(first, chosen, place);
    const at = clock.instant(local);
    if (at > span.to) break;
    const date = new Date(local);
    const major =
      chosen.unit === "hour" || chosen.unit === "minute"
        ? date.getUTCHours() === 0 && date.getUTCMinutes() === 0
        : date.getUTCMonth() === 0 && isFirst(date);
    const full = words.major.format(local);
    // The period in which the span begins is named at its start.
    ticks.push({
      at: Math.max(at, span.from),
      label: major ? full : words.minor.format(local),
      full,
      major,
    });
  }
  return ticks;
}

function isFirst(date: Date): boolean {
  return date.getUTCDate() <= 7;
}

function formats(locale: string, unit: Unit) {
  const format = (options: Intl.DateTimeFormatOptions) =>
    dateFormat(locale, { timeZone: "UTC", ...options });
  if (unit === "hour" || unit === "minute")
    return {
      minor: format({ hour: "numeric", minute: "2-digit" }),
      major: format({ day: "numeric", month: "short" }),
    };
  if (unit === "day")
    return {
      minor: format({ day: "numeric", month: "short" }),
      major: format({ day: "numeric", month: "short", year: "numeric" }),
    };
  if (unit === "month")
    return {
      minor: format({ month: "short" }),
      major: format({ month: "short", year: "numeric" }),
    };
  return { minor: format({ year: "numeric" }), major: format({ year: "numeric" }) };
}

/** The start of the step that contains a local time. */
function floorLocal(local: number, { unit, count }: Step): number {
  const date = new Date(local);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (unit === "year") return Date.UTC(year - (year % count), 0, 1);
  if (unit === "month") return Date.UTC(year, month - (month % count), 1);
  const midnight = Date.UTC(year, month, date.getUTCDate());
  if (unit === "hour")
    return midnight + Math.floor((local - midnight) / (count * HOUR_MS)) * count * HOUR_MS;
  if (unit === "minute") return Math.floor(local / (count * MINUTE_MS)) * count * MINUTE_MS;
  // Weeks begin on Monday.
  return count === 7 ? midnight - ((date.getUTCDay() + 6) % 7) * DAY_MS : midnight;
}

function addLocal(local: number, { unit, count }: Step, times: number): number {
  const date = new Date(local);
  if (unit === "year") return Date.UTC(date.getUTCFullYear() + times * count, 0, 1);
  if (unit === "month")
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + times * count, 1);
  const ms = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }[unit];
  return local + times * count * ms;
}

/** Converts between instants and the clock of a time zone, whose readings are handled as if they were UTC. */
function zoneClock(timeZone: string | null) {
  const parts = dateFormat("en-US", {
    timeZone: timeZone ?? undefined,
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const local = (at: number) => {
    const of = Object.fromEntries(parts.formatToParts(at).map((part) => [part.type, part.value]));
    const year = of.era === "BC" ? 1 - Number(of.year) : Number(of.year);
    const read = new Date(0);
    read.setUTCFullYear(year, Number(of.month) - 1, Number(of.day));
    read.setUTCHours(Number(of.hour), Number(of.minute));
    return read.getTime();
  };
  const instant = (at: number) => {
    const near = at - (local(at) - at);
    return at - (local(near) - near);
  };
  return { local, instant };
}

/** The labels for which there is room; the first of them is the full one. */
export function labelsOf(
  ticks: readonly Tick[],
  xOf: (tick: Tick) => number,
  end: number,
  room: number,
): (string | undefined)[] {
  let first = true;
  return ticks.map((tick, at) => {
    const next = ticks[at + 1];
    if ((next ? xOf(next) : end) - xOf(tick) < room) return undefined;
    const label = first ? tick.full : tick.label;
    first = false;
    return label;
  });
}
