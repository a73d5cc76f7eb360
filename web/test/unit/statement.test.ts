import assert from "node:assert/strict";
import { test } from "node:test";
import { isStatement } from "../../src/pages/chat/statement.ts";

test("what the user says can be kept, and questions and greetings cannot", () => {
  for (const text of [
    "My name is Paula and I live in Lyon",
    "Ich wohne in Lyon",
    "Habe zwei Katzen",
    "Dogs are not welcome here",
  ]) {
    assert.ok(isStatement(text), text);
  }
  for (const text of [
    "Where do I live?",
    "where do I live",
    "Wo wohne ich eigentlich",
    "I live where?",
    "Tell me about myself",
    "Hello there",
    "",
    "word ".repeat(200),
  ]) {
    assert.ok(!isStatement(text), text);
  }
});
