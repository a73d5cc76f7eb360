import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import { filingsOf, MAX_OFFERED } from "../../src/features/filing/filings.ts";

function memory(id: string, status = "active"): MemoryView {
  return { id, content: id, status } as MemoryView;
}

test("memories with a suggested area come first, each area together", () => {
  const all = [memory("a"), memory("b"), memory("c"), memory("d"), memory("gone", "forgotten")];
  const filings = filingsOf(all, [
    { memory_id: "b", domain: "work" },
    { memory_id: "d", domain: "food" },
    { memory_id: "c", domain: "work" },
    { memory_id: "gone", domain: "food" },
  ]);
  const shown = filings.map(({ memory, area }) => `${memory.id} ${area ?? ""}`.trim());
  assert.deepEqual(shown, ["d food", "b work", "c work", "a"]);
});

test("very many memories are offered in parts", () => {
  const all = Array.from({ length: MAX_OFFERED + 5 }, (_, at) => memory(`m${at}`));
  const filings = filingsOf(all, [{ memory_id: `m${MAX_OFFERED + 4}`, domain: "food" }]);
  assert.equal(filings.length, MAX_OFFERED);
  assert.equal(filings[0]?.area, "food");
});
