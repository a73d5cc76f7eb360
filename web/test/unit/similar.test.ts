import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lukasa, MemoryView } from "lukasa-client";
import { detectArea } from "../../src/data/area.ts";
import { similarMemories } from "../../src/data/similar.ts";

function memory(content: string, status = "active"): MemoryView {
  return { id: content, content, status } as MemoryView;
}

test("similar memories share most words, ignoring case, accents and order", () => {
  const all = [
    memory("User lives in a flat in Lisbon."),
    memory("Flies to Lisbon every other Friday"),
    memory("Lives in Lisbon", "forgotten"),
    memory("Trinkt gern Café"),
  ];
  const found = (text: string) => similarMemories(all, text, 2).map((one) => one.content);
  assert.deepEqual(found("lives in Lisbon"), ["User lives in a flat in Lisbon."]);
  assert.deepEqual(found("CAFE trinkt er gern"), ["Trinkt gern Café"]);
  assert.deepEqual(found("Lisbon"), [], "one word is not enough");
});

test("area of a new memory is the one that the server files its words under", async () => {
  const detecting = (filed_under: string | null) =>
    ({ domains: { detect: async () => ({ data: [], filed_under }) } }) as unknown as Lukasa;
  assert.equal(await detectArea(detecting("food"), "text"), "food");
  assert.equal(await detectArea(detecting(null), "text"), undefined);
});
