/** Chats by how long ago they were. Pure. */
import type { SessionView } from "@quipu/client";

export type When = "today" | "yesterday" | "week" | "older";
const DAY = 86_400_000;

export function byRecency(
  sessions: readonly SessionView[],
  now: number,
  timeZone: string | null,
): { when: When; sessions: SessionView[] }[] {
  const days = new Intl.DateTimeFormat("en-CA", { timeZone: timeZone ?? undefined });
  const today = days.format(now);
  const yesterday = days.format(now - DAY);
  const week = days.format(now - 7 * DAY);
  const whenOf = (session: SessionView): When => {
    const day = days.format(new Date(session.last_turn_at));
    if (day >= today) return "today";
    if (day === yesterday) return "yesterday";
    return day >= week ? "week" : "older";
  };
  const newest = [...sessions].sort((a, b) => b.last_turn_at.localeCompare(a.last_turn_at));
  return (["today", "yesterday", "week", "older"] as const)
    .map((when) => ({ when, sessions: newest.filter((one) => whenOf(one) === when) }))
    .filter((group) => group.sessions.length > 0);
}
