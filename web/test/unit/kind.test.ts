/** The kind of a new memory by its words, and the key of a rule. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, kindOf, ruleKey, suggestedKind } from "../../src/data/kind.ts";

const EXPECTED = {
  rule: [
    "Never suggest dishes with peanuts",
    "Allergic to penicillin, tell every doctor",
    "Don’t book flights before nine",
    "I never eat meat",
    "Always answer in German",
    "Ich esse kein Fleisch",
    "Allergisch gegen Nüsse",
    "Niemals vor neun Uhr anrufen",
  ],
  preference: [
    "Prefers trains over planes",
    "I like answers short",
    "My favourite colour is green",
    "Answer briefly",
    "Ich mag kurze Antworten",
    "Fährt lieber mit dem Zug",
  ],
  fact: [
    "Lives in Lyon with two cats",
    "Has never been to Rome",
    "I always wanted to see Rome",
    "Works as a nurse at night",
    "War noch nie in Rom",
    "Wohnt in Lissabon",
    "",
  ],
} as const;

for (const [kind, texts] of Object.entries(EXPECTED)) {
  test(`kind of a new memory is found from its words: ${kind}`, () => {
    for (const text of texts) assert.equal(kindOf(text), kind, text);
  });
}

test("key of a rule is made from its words, without those that say nothing", () => {
  assert.equal(ruleKey("Never suggest dishes with peanuts"), "never-suggest-dishes-peanuts");
  assert.equal(ruleKey("Keine Nüsse!"), "keine-nusse");
  assert.equal(ruleKey("to be or"), "to-be-or");
  assert.equal(ruleKey("…"), "rule");
  assert.ok(ruleKey("word ".repeat(99)).length <= 64);
});

test("new memory is saved as what its words say, and as a rule only in an area", () => {
  const words = "Never suggest peanuts";
  assert.deepEqual(fieldsOf(suggestedKind(words, true), words), {
    kind: "preference",
    force: "hard",
    key: "never-suggest-peanuts",
  });
  assert.deepEqual(fieldsOf(suggestedKind(words, false), words), { kind: "preference" });
  assert.deepEqual(fieldsOf(suggestedKind("Lives in Lyon", true), "Lives in Lyon"), {});
});
