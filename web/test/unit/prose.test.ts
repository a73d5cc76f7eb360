import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf, proseOf } from "../../src/pages/sources/prose.ts";
import { secondPerson } from "../../src/pages/sources/voice.ts";

test("statements in any person are put into the second", () => {
  for (const [said, shown] of [
    ["works nights as a nurse", "You work nights as a nurse"],
    ["User works nights", "You work nights"],
    ["The user's name is Ana", "Your name is Ana"],
    ["I want to retire with my wife at 60", "You want to retire with your wife at 60"],
    ["I'm a nurse, and nobody helps me", "You are a nurse, and nobody helps you"],
    ["Is called Alma and lives in Lisbon", "You are called Alma and live in Lisbon"],
    ["Usually wakes at six", "You usually wake at six"],
    ["Doesn't eat meat", "You don't eat meat"],
    ["Allergic to penicillin", "You are allergic to penicillin"],
    ["Learning Portuguese", "You are learning Portuguese"],
    ["Born in Porto", "You were born in Porto"],
    ["Studies law, and goes to Porto", "You study law, and goes to Porto"],
    ["Ich wohne mit meiner Frau in Lyon", "Du wohnst mit deiner Frau in Lyon"],
    ["Ich arbeite nachts, und das gefällt mir", "Du arbeitest nachts, und das gefällt dir"],
    ["Heute bin ich müde", "Heute bist du müde"],
    ["Wohnt in Lissabon", "Du wohnst in Lissabon"],
    ["Der Nutzer ist Arzt", "Du bist Arzt"],
    ["Mein Hund heißt Milo", "Dein Hund heißt Milo"],
  ])
    assert.equal(secondPerson(said ?? ""), shown);
});

test("instructions, names, quotations and unknown words stay as they are", () => {
  for (const said of [
    "Never suggest dishes with peanuts",
    "No meetings before ten",
    "Two cats called Milo and Mina",
    "Ana's sister lives in Porto",
    'Says "I will never fly" at every airport',
    "Will Smith is the favourite actor",
    "Likelihoods as numbers",
  ])
    assert.equal(secondPerson(said), said);
});

test("what several memories say becomes one sentence each, with its citation", () => {
  const sentence = { text: "Lives in Lyon; has two cats.", memory_ids: ["a", "b"] };
  assert.deepEqual(partsOf(sentence, true), [
    { text: "Lives in Lyon", memories: ["a"] },
    { text: "has two cats.", memories: ["b"] },
  ]);
  // A model may order what it cites, so its sentence stays whole.
  assert.equal(partsOf(sentence, false).length, 1);
  assert.equal(partsOf({ text: "likes tea; not coffee.", memory_ids: ["a"] }, true).length, 1);
});

const STATED = "You told me";
const LIKELY = "You mentioned";

function portrait(name: string, ...sentences: [lead: string, text: string, ids: string][]) {
  return {
    name,
    made_by: "template",
    sentences: sentences.map(([lead, text, ids]) => ({
      lead,
      text,
      section: "fact",
      memory_ids: ids.split(""),
    })),
  };
}

function textOf(...portraits: ReturnType<typeof portrait>[]): string[] {
  return [...proseOf(portraits).values()].map((paragraphs) =>
    paragraphs
      .map(({ likely, sentences }) =>
        [likely ? "likely:" : "", ...sentences.map((one) => `${one.text}${one.memories.join("")}`)]
          .filter(Boolean)
          .join(" "),
      )
      .join(" | "),
  );
}

test("what is said twice is one sentence that cites both memories", () => {
  assert.deepEqual(
    textOf(
      portrait(
        "profile",
        [STATED, "Is called Alma and lives in Lisbon; lives in Lisbon; I have a cat.", "abc"],
        [LIKELY, "has a cat; works nights.", "de"],
      ),
    ),
    ["You are called Alma and live in Lisbon.ab You have a cat.cd | likely: You work nights.e"],
  );
});

test("a negation and what differs in one word are both kept", () => {
  assert.deepEqual(
    textOf(
      portrait("profile", [STATED, "eats fish; doesn't eat fish; eats fish on Friday.", "abc"]),
    ),
    ["You don't eat fish.b You eat fish on Friday.ca"],
  );
  // The user's own statement does not become a part of a guess.
  assert.deepEqual(
    textOf(
      portrait("profile", [STATED, "has a cat.", "a"], [LIKELY, "has a cat called Milo.", "b"]),
    ),
    ["You have a cat.a | likely: You have a cat called Milo.b"],
  );
});

test("an area does not repeat what the profile says", () => {
  const profile = portrait("profile", [STATED, "lives in Lisbon.", "a"]);
  const travel = portrait("domain:travel", [STATED, "lives in Lisbon; prefers trains.", "ab"]);
  assert.deepEqual(textOf(profile, travel), ["You live in Lisbon.a", "You prefer trains.b"]);
  assert.deepEqual(textOf(travel), ["You live in Lisbon.a You prefer trains.b"]);
});

test("paragraphs are short, and end with their topic", () => {
  const many = portrait("profile", [
    STATED,
    "a b1; c d2; e f3; g h4; i j5; k l6; m n7.",
    "abcdefg",
  ]);
  const [paragraphs] = [...proseOf([many]).values()];
  assert.deepEqual(
    paragraphs?.map((one) => one.sentences.length),
    [5, 2],
  );
});

test("sentences of one area are together, and the user's name comes first", () => {
  const all = portrait("profile", [
    STATED,
    "likes tea; sings; is called Alma; likes cake; packs light.",
    "abcde",
  ]);
  const areas: Record<string, string> = { a: "food", c: "personal", d: "food", e: "travel" };
  const [paragraphs] = [...proseOf([all], (id) => areas[id]).values()];
  assert.deepEqual(
    paragraphs?.map((one) => one.sentences.map((said) => said.text)),
    [
      ["You are called Alma.", "You like tea.", "You like cake."],
      ["You sing.", "You pack light."],
    ],
  );
});
