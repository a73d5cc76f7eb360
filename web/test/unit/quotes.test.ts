import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpt, pieces } from "../../src/data/quotes.ts";

const show = (text: string, quotes: string[]) =>
  pieces(text, quotes)
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join("");

test("quotations are marked in the text", () => {
  assert.equal(show("Hi, I fly on Friday.", ["I fly on Friday"]), "Hi, [I fly on Friday].");
  assert.equal(show("I fly\n  on Friday", ["i fly on friday"]), "[I fly\n  on Friday]");
  assert.equal(show("a b c d", ["b c", "a b"]), "[a b c] d");
  assert.equal(show("a (b) c?", ["(b) c?"]), "a [(b) c?]");
  assert.equal(show("nothing of it", ["else", ""]), "nothing of it");
  assert.equal(show("", ["x"]), "");
});

test("marking loses and doubles no text", () => {
  const text = "one two three two one";
  for (const quotes of [
    ["two", "two three"],
    ["one", "one two three two one"],
    ["three two", "two"],
  ]) {
    assert.equal(
      pieces(text, quotes)
        .map((piece) => piece.text)
        .join(""),
      text,
    );
  }
});

test("excerpt of a long turn surrounds the mark", () => {
  const long = "word ".repeat(100);
  const shown = excerpt(pieces(`${long}I live in Lyon. ${long}`, ["I live in Lyon"]));
  const text = shown.map((piece) => piece.text).join("");
  assert.ok(text.length < 300 && text.includes("I live in Lyon") && text.includes("…"), text);
  const plain = excerpt(pieces(long, []));
  assert.ok((plain[0]?.text.length ?? 0) < 250 && plain[0]?.text.endsWith("…"));
});
