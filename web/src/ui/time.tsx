import { createContext, useContext, useSyncExternalStore } from "react";
import { day, exact, relative } from "../base/dates.ts";
import { usePreferences } from "../base/preferences.ts";
import { t } from "../i18n/index.ts";

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

/** Whether dates are shown as dates: in a view of the past "3 days ago" would count from today. */
export const AbsoluteDates = createContext(false);

/** A function that shows a time as text: relative, or as a date in a view of the past. */
export function useTimeText(): (at: string) => string {
  const now = useNow();
  const isPast = useContext(AbsoluteDates);
  const { timeZone } = usePreferences();
  return (at) => (isPast ? day(at, timeZone) : relative(Date.parse(at), now));
}

/** A time: relative, with the exact one on hover; with `absolute` or in a view of the past the other way round. */
export function Time({ at, absolute }: { at: string | null | undefined; absolute?: boolean }) {
  const from = useNow();
  const isPast = useContext(AbsoluteDates);
  const { timeZone } = usePreferences();
  if (!at) return <span className="text-faint">{t("shell.time.never")}</span>;
  const when = exact(at, timeZone);
  const ago = relative(Date.parse(at), from);
  const shown = absolute ? when : isPast ? day(at, timeZone) : ago;
  return (
    <time
      dateTime={at}
      title={absolute && !isPast ? ago : when}
      className="whitespace-nowrap tabular-nums"
    >
      {/* Isolated, or a number would change places in text of the other direction. */}
      <bdi>{shown}</bdi>
    </time>
  );
}
