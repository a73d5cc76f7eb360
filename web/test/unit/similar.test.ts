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

test("area of a new memory: only if it is clear and turned on", async () => {
  const domains = [
    { name: "food", requires_opt_in: false },
    { name: "health", requires_opt_in: true, opted_in_at: null },
  ] as unknown as Parameters<typeof detectArea>[2];
  const detecting = (data: { domain: string; score: number }[]) =>
    ({ domains: { detect: async () => ({ data }) } }) as unknown as Lukasa;
  const area = (...data: { domain: string; score: number }[]) =>
    detectArea(detecting(data), "text", domains);
  assert.equal(await area({ domain: "food", score: 1 }), "food");
  assert.equal(await area({ domain: "health", score: 1 }), undefined);
  assert.equal(
    await area({ domain: "food", score: 0.5 }, { domain: "work", score: 0.5 }),
    undefined,
  );
  assert.equal(await area(), undefined);
});
