/**
 * Seeds the history for the screenshots of the tour. `run-tests --tour` runs the server for several
 * simulated days over five weeks, and runs this file on each of them.
 */
import type { Lukasa } from "lukasa-client";
import { seed, test } from "../fixture.ts";
import { dinner, eat, tax, weekend } from "../life.ts";

const DAYS_AGO = Number(process.env.TOUR_DAYS_AGO);

/** The id of the first memory that matches the words. */
async function idOf(lukasa: Lukasa, words: string): Promise<string> {
  const found = await lukasa.memories.list({ search: words }).all();
  return found[0]?.id ?? "";
}

const DAYS: Record<number, (lukasa: Lukasa) => Promise<unknown>> = {
  35: async (lukasa) => {
    await eat(lukasa);
    await seed(lukasa, [
      { content: "Lives in Berlin", category: "profile", valid_from: "2024-05-01T00:00:00Z" },
      { content: "Likes answers short, with the reason first", category: "style" },
    ]);
  },
  32: tax,
  28: (lukasa) =>
    seed(lukasa, [
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
  21: async (lukasa) => {
    await lukasa.memories.update(await idOf(lukasa, "Lives in Berlin"), {
      content: "Lives in Lisbon",
      mode: "change",
      valid_from: "2026-03-01T00:00:00Z",
    });
    await seed(lukasa, [
      { content: "Saves for a flat in Graça, at most 320,000 euros", category: "context" },
    ]);
  },
  18: (lukasa) =>
    seed(lukasa, [
      { content: "Reads on a Kobo, mostly Portuguese crime novels", kind: "preference" },
      { content: "Has a sister called Ana who lives in Porto", category: "profile" },
    ]),
  14: async (lukasa) => {
    await lukasa.memories.confirm(await idOf(lukasa, "Prefers trains"));
    await lukasa.memories.update(await idOf(lukasa, "Kobo"), {
      content: "Reads on a Kobo, mostly Portuguese and Nordic crime novels",
      mode: "correction",
    });
  },
  11: (lukasa) =>
    seed(lukasa, [
      { content: "Swims on Tuesday and Thursday mornings", domain: "schedule", kind: "habit" },
      { content: "Takes the ferry to Cacilhas on free days", domain: "travel", kind: "habit" },
      { content: "Cooks from what the market has on Saturday", domain: "food", kind: "habit" },
    ]),
  8: async (lukasa) => {
    const [bike] = await seed(lukasa, ["Owns a folding bike"]);
    await lukasa.memories.confirm(await idOf(lukasa, "No meetings"));
    await lukasa.memories.forget(bike?.memory?.id ?? "");
  },
  5: (lukasa) => seed(lukasa, [{ content: "Learns Portuguese, level B1", kind: "project" }]),
  3: async (lukasa) => {
    await lukasa.memories.confirm(await idOf(lukasa, "Lives in Lisbon"));
    await lukasa.memories.confirm(await idOf(lukasa, "window seats"));
  },
  1: dinner,
};

test.use({ user: "alma" });
test.setTimeout(60_000);

test(`${DAYS_AGO} days ago`, async ({ lukasa }) => {
  await DAYS[DAYS_AGO]?.(lukasa);
  // The number of retrievals varies from day to day.
  const questions = [
    "What is on this week?",
    "Which train should I take to Porto?",
    "Suggest something for dinner",
    "What was I reading?",
    "How far am I with the flat?",
  ];
  const asked = 4 + (DAYS_AGO % 2);
  for (const query of questions.slice(0, asked)) {
    await lukasa.memories.retrieve({ query, session_id: `day-${DAYS_AGO}` });
  }
});
