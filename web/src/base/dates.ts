/** Dates as text, in the user's language. Pure. */
import { dateFormat, relativeFormat } from "../i18n/formats.ts";
import { locale } from "../i18n/index.ts";

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** A relative time such as "3 days ago", in the user's language. */
export function relative(at: number, from: number): string {
  const seconds = (at - from) / 1000;
  const words = relativeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  }
  return words.format(0, "second");
}

/** Date and time, in the user's time zone. */
export function exact(at: string | number | Date, timeZone: string | null): string {
  return dateFormat(locale(), {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: timeZone ?? undefined,
  }).format(new Date(at));
}

/** The date, in the user's time zone. */
export function day(at: string | number | Date, timeZone: string | null): string {
  return dateFormat(locale(), {
    dateStyle: "medium",
    timeZone: timeZone ?? undefined,
  }).format(new Date(at));
}
