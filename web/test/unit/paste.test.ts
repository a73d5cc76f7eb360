import assert from "node:assert/strict";
import { test } from "node:test";
import { factsOf } from "../../src/data/paste.ts";

test("one fact per line, without marks, empty lines and duplicates", () => {
  const text = "- Lives in Lyon\n\n* Lives in Lyon.\r\n3) Has two cats\n[x] Is vegetarian\n• \n12";
  assert.deepEqual(factsOf(text), ["Lives in Lyon", "Has two cats", "Is vegetarian"]);
});

test("memory page of ChatGPT: dates, quotes and a code fence", () => {
  const text = [
    "Here is what I remember:",
    "```",
    "[2025-03-02] - User works as a nurse.",
    "1. [2025-04-11]. “Prefers trains over planes”",
    "```",
  ].join("\n");
  assert.deepEqual(factsOf(text), ["User works as a nurse.", "Prefers trains over planes"]);
});

test("memory page of Claude: headings are left out, paragraphs become sentences", () => {
  const text = [
    "**Work context**",
    "Ana is a data engineer at a hospital in Porto and leads a team of four people. " +
      "She prefers **Rust** over Python for services, and wants code reviews to be short.",
    "## Personal context",
    "Learning the cello.",
  ].join("\n");
  assert.deepEqual(factsOf(text), [
    "Ana is a data engineer at a hospital in Porto and leads a team of four people.",
    "She prefers Rust over Python for services, and wants code reviews to be short.",
    "Learning the cello.",
  ]);
});

test("a sentence with a colon or a date inside stays whole", () => {
  const fact = "Flight on 2026-03-01: window seat, never the middle";
  assert.deepEqual(factsOf(fact), [fact]);
});

test("very long text is cut to what the server accepts", () => {
  assert.equal(factsOf("a".repeat(2_000))[0]?.length, 500);
  assert.equal(
    factsOf(Array.from({ length: 900 }, (_, at) => `Fact ${at}`).join("\n")).length,
    500,
  );
});
