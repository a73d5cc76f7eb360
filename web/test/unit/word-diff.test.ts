import assert from "node:assert/strict";
import { test } from "node:test";
import { type Change, changes } from "../../src/ui/word-diff.ts";

const text = (parts: Change[], kinds: string[]) =>
  parts
    .filter((part) => kinds.includes(part.kind))
    .map((part) => part.text)
    .join("");

test("diff of a changed word is one change", () => {
  assert.deepEqual(changes("retire at 50", "retire at 55"), [
    { kind: "same", text: "retire at " },
    { kind: "removed", text: "50" },
    { kind: "added", text: "55" },
  ]);
});

test("diff contains both texts", () => {
  const texts = [
    "",
    "a",
    "Likes tea, not coffee.",
    "Mag Tee\nund Kaffee 🙂",
    "tea coffee tea",
    "👩‍👩‍👧 rtl שלום",
  ];
  for (const before of texts) {
    for (const after of texts) {
      const parts = changes(before, after);
      assert.equal(text(parts, ["same", "removed"]), before);
      assert.equal(text(parts, ["same", "added"]), after);
    }
  }
});
