/** A change of a memory as an update, and the lines of the reveal page. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryView } from "lukasa-client";
import { changeOf, localDay } from "../../src/data/change.ts";
import { areasOf, linesOf, nextMemory } from "../../src/pages/reveal/lines.ts";

const NOW = new Date(2026, 2, 9, 15, 30);

test("change of a memory is true from the day on, and one of today from now", () => {
  assert.equal(localDay(NOW), "2026-03-09");
  assert.deepEqual(changeOf("Lives in Wedding", "2026-02-01", NOW), {
    mode: "change",
    content: "Lives in Wedding",
    valid_from: "2026-02-01T00:00:00Z",
  });
  assert.deepEqual(changeOf("Lives in Wedding", "2026-03-09", NOW), {
    mode: "change",
    content: "Lives in Wedding",
  });
});

test("change of a memory without new text ends it", () => {
  assert.deepEqual(changeOf("", "2026-02-01", NOW), {
    mode: "correction",
    valid_until: "2026-02-01T00:00:00Z",
  });
  assert.equal(changeOf("", "2026-03-09", NOW).valid_until, NOW.toISOString());
});

test("reveal lists the largest area first, and memories of no area last", () => {
  const memories = ["", "food", "", "", "travel", "travel"].map(
    (domain, id) => ({ id: String(id), domain: domain || null }) as MemoryView,
  );
  const areas = areasOf(memories);
  assert.deepEqual(
    areas.map(({ name, memories: some }) => [name, some.length]),
    [
      ["travel", 2],
      ["food", 1],
      ["", 3],
    ],
  );
  const lines = linesOf(areas);
  assert.equal(lines.length, 9);
  // Headings are passed over.
  assert.equal(nextMemory(lines, 2, 1), 4);
  assert.equal(nextMemory(lines, 4, -1), 2);
  assert.equal(nextMemory(lines, 1, -1), 1);
  assert.equal(nextMemory(lines, 8, 1), 8);
});
