import { useSyncExternalStore } from "react";
import { usePreferences } from "../app/preferences.ts";
import { locale, t } from "../i18n/index.ts";

// One clock for the whole page: relative times are updated every half minute.
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, 30_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

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
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  }
  return words.format(0, "second");
}

/** Date and time, in the user's time zone. */
export function exact(at: string | number | Date, timeZone: string | null): string {
  return new Intl.DateTimeFormat(locale(), {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: timeZone ?? undefined,
  }).format(new Date(at));
}

/** The date, in the user's time zone. */
export function day(at: string | number | Date, timeZone: string | null): string {
  return new Intl.DateTimeFormat(locale(), {
    dateStyle: "medium",
    timeZone: timeZone ?? undefined,
  }).format(new Date(at));
}

/** A time: relative, with the exact one on hover; with `absolute` the other way round. */
export function Time({ at, absolute }: { at: string | null | undefined; absolute?: boolean }) {
  const from = useNow();
  const { timeZone } = usePreferences();
  if (!at) return <span className="text-faint">{t("shell.time.never")}</span>;
  const when = exact(at, timeZone);
  const ago = relative(Date.parse(at), from);
  return (
    <time dateTime={at} title={absolute ? ago : when} className="whitespace-nowrap tabular-nums">
      {absolute ? when : ago}
    </time>
  );
}
