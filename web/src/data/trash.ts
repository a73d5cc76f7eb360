/** Remaining days in the trash. Pure. */
const TRASH_DAYS = 30;

/** Days for which it can still be restored, at most 30, even if the clock lags. */
export function daysLeft(since: string, now: number): number {
  const age = Math.max(0, Math.floor((now - Date.parse(since)) / 86_400_000));
  return Math.max(0, TRASH_DAYS - age);
}
