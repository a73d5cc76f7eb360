/** How long what is deleted can be had again. Pure. */
const TRASH_DAYS = 30;

/** For how many days it can still be taken out of the trash. A clock that lags has not lent it one more. */
export function daysLeft(since: string, now: number): number {
  const lain = Math.max(0, Math.floor((now - Date.parse(since)) / 86_400_000));
  return Math.max(0, TRASH_DAYS - lain);
}
