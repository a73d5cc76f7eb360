/**
 * What happened before the pictures of the tour were taken. `run-tests --tour` has the server live through
 * five weeks, a day at a time, and asks on each of them for what was said and done.
 */
import type { Quipu } from "@quipu/client";
import { seed, test } from "../fixture.ts";
import { dinner, eat, tax, weekend } from "../life.ts";

const DAYS_AGO = Number(process.env.TOUR_DAYS_AGO);

/** What a memory says, so that a later day can come back to it. */
async function idOf(quipu: Quipu, words: string): Promise<string> {
  const found = await quipu.memories.list({ search: words }).all();
  return found[0]?.id ?? "";
}

const DAYS: Record<number, (quipu: Quipu) => Promise<unknown>> = {
  35: async (quipu) => {
    await eat(quipu);
    await seed(quipu, [
      { content: "Lives in Berlin", category: "profile", valid_from: "2024-05-01T00:00:00Z" },
      { content: "Likes answers short, with the reason first", category: "style" },
    ]);
  },
  32: tax,
  28: (quipu) =>
    seed(quipu, [
      {
        content: "No meetings before ten",
        force: "hard",
        domain: "schedule",
        key: "earliest",
        value: "10:00",
      },
      {
        content: "Prefers trains over planes, and window seats",
        domain: "travel",
        kind: "preference",
      },
    ]),
  24: weekend,
  21: async (quipu) => {
    await quipu.memories.update(await idOf(quipu, "Lives in Berlin"), {
      content: "Lives in Lisbon",
      mode: "change",
      valid_from: "2026-03-01T00:00:00Z",
    });
    await seed(quipu, [
      { content: "Saves for a flat in Graça, at most 320,000 euros", category: "context" },
    ]);
  },
  18: (quipu) =>
    seed(quipu, [
      { content: "Reads on a Kobo, mostly Portuguese crime novels", kind: "preference" },
      { content: "Has a sister called Ana who lives in Porto", category: "profile" },
    ]),
  14: async (quipu) => {
    await quipu.memories.confirm(await idOf(quipu, "Prefers trains"));
    await quipu.memories.update(await idOf(quipu, "Kobo"), {
      content: "Reads on a Kobo, mostly Portuguese and Nordic crime novels",
      mode: "correction",
    });
  },
  11: (quipu) =>
    seed(quipu, [
      { content: "Swims on Tuesday and Thursday mornings", domain: "schedule", kind: "habit" },
      { content: "Takes the ferry to Cacilhas on free days", domain: "travel", kind: "habit" },
      { content: "Cooks from what the market has on Saturday", domain: "food", kind: "habit" },
    ]),
  8: async (quipu) => {
    const [bike] = await seed(quipu, ["Owns a folding bike"]);
    await quipu.memories.confirm(await idOf(quipu, "No meetings"));
    await quipu.memories.forget(bike?.memory?.id ?? "");
  },
  5: (quipu) => seed(quipu, [{ content: "Learns Portuguese, level B1", kind: "project" }]),
  3: async (quipu) => {
    await quipu.memories.confirm(await idOf(quipu, "Lives in Lisbon"));
    await quipu.memories.confirm(await idOf(quipu, "window seats"));
  },
  1: dinner,
};

test.use({ user: "alma" });
test.setTimeout(60_000);

test(`${DAYS_AGO} days ago`, async ({ quipu }) => {
  await DAYS[DAYS_AGO]?.(quipu);
  // Her assistant asks before each of its answers, now more often and now less.
  const questions = [
    "What is on this week?",
    "Which train should I take to Porto?",
    "Suggest something for dinner",
    "What was I reading?",
    "How far am I with the flat?",
  ];
  const asked = 4 + (DAYS_AGO % 2);
  for (const query of questions.slice(0, asked)) {
    await quipu.memories.retrieve({ query, session_id: `day-${DAYS_AGO}` });
  }
});
