/** When the user is invited to the monthly review. Pure. */
import type { ReviewView } from "lukasa-client";

const DAY = 24 * 60 * 60 * 1000;

/** Until when the invitation stays hidden once the user has put it off. */
export function hiddenUntil(now: number): number {
  return now + 30 * DAY;
}

/** Whether the user is invited: a review is due, and they have not put it off. */
export function isInvited(
  periodic: ReviewView["periodic"] | undefined,
  reviewHiddenUntil: number,
  now: number,
): boolean {
  return periodic?.due === true && reviewHiddenUntil <= now;
}
