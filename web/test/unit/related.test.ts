import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import { relatedIn } from "../../src/data/related.ts";

const TOMATOES = [
  "Has a balcony",
  "Balcony faces south",
  "Grows tomatoes on the balcony",
  "Sows tomatoes in March",
  "Tomatoes need water",
  "Eats what the balcony gives",
  "Buys a watering can",
];
const LISBON = ["Lives in Lisbon", "Flies to Lisbon"];

function related(content: string, forgotten: string[] = [], linked: string[] = []): string[] {
  const all = [...TOMATOES, ...LISBON, "Plays the cello"].map((one) => {
    const status = forgotten.includes(one) ? "forgotten" : "active";
    return [one, { id: one, content: one, status } as MemoryView] as const;
  });
  const memory = { id: content, content };
  const found = relatedIn(
    [TOMATOES, LISBON, ["Erased", content]],
    memory,
    new Map(all),
    new Set(linked),
  );
  return found.map((one) => one.content);
}

test("related memories are the others of the cluster, the most alike first and at most five", () => {
  assert.deepEqual(related("Lives in Lisbon"), ["Flies to Lisbon"]);
  assert.deepEqual(related("Grows tomatoes on the balcony"), [
    "Eats what the balcony gives",
    "Has a balcony",
    "Balcony faces south",
    "Sows tomatoes in March",
    "Tomatoes need water",
  ]);
});

test("the subject of learned memories counts as no word in common", () => {
  const learned = ["User drinks two coffees", "User grows tomatoes", "Tomatoes need water"];
  const byId = new Map(
    learned.map((one) => [one, { id: one, content: one, status: "active" } as MemoryView]),
  );
  const memory = { id: "User grows tomatoes", content: "User grows tomatoes" };
  const found = relatedIn([learned], memory, byId, new Set());
  assert.deepEqual(
    found.map((one) => one.content),
    ["Tomatoes need water", "User drinks two coffees"],
  );
});

test("forgotten, erased and linked memories are not related, and one in no cluster has none", () => {
  assert.deepEqual(related("Lives in Lisbon", ["Flies to Lisbon"]), []);
  assert.deepEqual(related("Lives in Lisbon", [], ["Flies to Lisbon"]), []);
  assert.deepEqual(related("Plays the cello"), []);
});
