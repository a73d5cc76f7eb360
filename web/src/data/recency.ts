/** Groups chats by age: today, yesterday, the previous week, older; archived ones are apart. Pure. */
import type { SessionView } from "lukasa-client";
import { dateFormat } from "../i18n/formats.ts";

export type Age = "today" | "yesterday" | "week" | "older" | "archived";

export interface AgeGroup {
  age: Age;
  sessions: SessionView[];
}

const AGES: readonly Age[] = ["today", "yesterday", "week", "older", "archived"];
const DAY = 86_400_000;

/** The chats by age, the latest first, then the archived ones. Days are those of the user's time zone. */
export function groupByAge(
  sessions: readonly SessionView[],
  now: number,
  timeZone: string | null,
): AgeGroup[] {
  const days = dateFormat("en-CA", {
    timeZone: timeZone ?? undefined,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  // Calendar day numbers: with clock changes, days have 23 or 25 hours.
  const number = (at: number) => Date.parse(`${days.format(at)}T00:00:00Z`) / DAY;
  const today = number(now);
  const ageOf = (session: SessionView): Age => {
    if (session.state === "archived") return "archived";
    const ago = today - number(Date.parse(session.last_turn_at));
    if (ago <= 0) return "today";
    if (ago === 1) return "yesterday";
    return ago <= 7 ? "week" : "older";
  };
  const latest = [...sessions].sort((a, b) => b.last_turn_at.localeCompare(a.last_turn_at));
  return AGES.map((age) => ({
    age,
    sessions: latest.filter((session) => ageOf(session) === age),
  })).filter((group) => group.sessions.length > 0);
}
