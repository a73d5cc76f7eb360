import assert from "node:assert/strict";
import { test } from "node:test";
import { relatedIn } from "../../src/data/related.ts";

const cluster = (name: string, ...contents: string[]) => ({
  name,
  memories: contents.map((content) => ({ memory_id: content, content })),
});

test("related memories are the others of the cluster, the most alike first and at most five", () => {
  const tomatoes = cluster(
    "tomatoes",
    "Has a balcony",
    "Balcony faces south",
    "Grows tomatoes on the balcony",
    "Sows tomatoes in March",
    "Tomatoes need water",
    "Eats what the balcony gives",
    "Buys a watering can",
  );
  const all = [cluster("lisbon", "Lives in Lisbon", "Flies to Lisbon"), tomatoes];
  const related = (content: string) =>
    relatedIn(all, { id: content, content }).map((one) => one.content);
  assert.deepEqual(related("Lives in Lisbon"), ["Flies to Lisbon"]);
  assert.deepEqual(related("Grows tomatoes on the balcony"), [
    "Eats what the balcony gives",
    "Has a balcony",
    "Balcony faces south",
    "Sows tomatoes in March",
    "Tomatoes need water",
  ]);
});

test("memory in no cluster has no related ones", () => {
  const all = [cluster("lisbon", "Lives in Lisbon", "Flies to Lisbon")];
  assert.deepEqual(relatedIn(all, { id: "Plays the cello", content: "Plays the cello" }), []);
  assert.deepEqual(relatedIn([], { id: "a", content: "a" }), []);
});
