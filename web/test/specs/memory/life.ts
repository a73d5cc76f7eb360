/** Sample memories of one user. */
import type { CreateMemory, Lukasa } from "lukasa-client";

export const LIFE: CreateMemory[] = [
  {
    content: "Never suggest dishes with peanuts",
    force: "hard",
    domain: "food",
    key: "diet.peanuts",
    value: "never",
    valid_from: "2019-05-02",
  },
  {
    content: "Books aisle seats on trains, window seats on planes",
    force: "hard",
    domain: "travel",
    key: "seat",
    value: "window",
    valid_from: "2025-11-20",
  },
  {
    content: "Works night shifts as a nurse at the Charité in Berlin",
    domain: "work",
    category: "profile",
    valid_from: "2023-09-01",
    tags: ["nurse", "shifts"],
  },
  {
    content: "Has a sister called Ana who lives in Porto",
    category: "profile",
    valid_from: "2024-02-11",
  },
  {
    content: "Learning Portuguese for a move to Lisbon",
    category: "context",
    domain: "travel",
    valid_from: "2026-03-03",
    tags: ["lisbon"],
  },
  {
    content: "Looking for a flat in Graça, at most 1,400 € a month",
    category: "context",
    valid_from: "2026-09-14",
    tags: ["lisbon"],
  },
  {
    content: "Likes answers short, with the result first",
    category: "style",
    domain: "communication",
    valid_from: "2025-01-08",
  },
  {
    content: "Prefers metric units and 24-hour times",
    category: "style",
    valid_from: "2025-01-08",
  },
  {
    content: "Cooks for six every Sunday; oven is a small one",
    domain: "food",
    valid_from: "2025-10-05",
  },
  { content: "Runs ten kilometres along the Spree on free mornings", valid_from: "2026-04-20" },
  {
    content: "Allergic reaction to penicillin as a child",
    valid_from: "1994-06-01",
    keep_without_domain: true,
  },
  {
    content: "Wants the Lisbon lease to start in February",
    domain: "travel",
    category: "context",
    valid_from: "2026-10-30",
    valid_until: "2027-02-28",
    tags: ["lisbon"],
  },
  { content: "מעדיפה לקרוא בעברית לפני השינה", valid_from: "2026-01-15" },
];

/** Saves them, with one changed, one confirmed, one forgotten, one in the trash and two proposed. */
export async function live(lukasa: Lukasa): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const memory of LIFE) {
    const { memory: saved } = await lukasa.memories.save(memory);
    if (saved) ids[saved.content] = saved.id;
  }
  const retire = await lukasa.memories.save({
    content: "Wants to retire at 50",
    valid_from: "2026-01-02",
  });
  ids.retire = retire.memory?.id ?? "";
  await lukasa.memories.update(ids.retire, "Wants to retire at 55");
  await lukasa.memories.confirm(ids["Has a sister called Ana who lives in Porto"] ?? "");
  await lukasa.memories.save("Subscribes to a meal kit");
  await lukasa.memories.forget("meal kit");
  await lukasa.memories.save("Parks the car on Torstraße");
  await lukasa.memories.delete("Torstraße");
  await lukasa.memories.propose({
    content: "Vegetarian on weekdays",
    domain: "food",
    reasoning: "Asked for meatless recipes four times this month",
    evidence: [{ type: "quote", description: "something without meat again please, it's Tuesday" }],
  });
  await lukasa.memories.propose({
    content: "Takes the overnight train rather than a flight below 1,000 km",
    domain: "travel",
    reasoning: "Said so while planning Vienna",
    evidence: [{ type: "quote", description: "I'd rather sleep on the train to Vienna" }],
  });
  return ids;
}
