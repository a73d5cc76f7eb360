/** Which records of use mean that an answer used a memory. Pure. */
import type { UsageView } from "lukasa-client";

/** Types of records that mean that an answer used the memory. It was only available if it was `retrieved`. */
const USED_TYPES = new Set(["applied", "cited", "confirmed"]);

/** The id of the answer that used the memory, if the record says so. */
export function answerOf({ type, turn_id }: UsageView): string | undefined {
  return USED_TYPES.has(type) && turn_id ? turn_id : undefined;
}

/** How many of the answers in these records used each memory. */
export function countAnswers(records: readonly UsageView[]): ReadonlyMap<string, number> {
  const answers = new Map<string, Set<string>>();
  for (const record of records) {
    const answer = answerOf(record);
    if (!answer) continue;
    answers.set(record.memory_id, (answers.get(record.memory_id) ?? new Set()).add(answer));
  }
  return new Map([...answers].map(([id, turns]) => [id, turns.size]));
}
