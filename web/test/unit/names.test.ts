/** Names from the server: each value that the API can return has a translation in every language. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { de } from "../../src/i18n/de/index.ts";
import { en } from "../../src/i18n/en/index.ts";
import { nameText } from "../../src/i18n/index.ts";

interface Schema {
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

const { components } = JSON.parse(
  readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8"),
) as { components: { schemas: Record<string, Schema> } };

/** The values of a field. */
function valuesOf(schema: string, field: string): string[] {
  const found = components.schemas[schema]?.properties?.[field];
  const values = found?.enum ?? found?.items?.enum ?? [];
  assert.ok(values.length > 1, `${schema}.${field} lists its values`);
  return values;
}

type Book = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>;
const BOOKS: Readonly<Record<string, Book>> = { en, de };

/** The fields whose values are shown, and the key of the translation of each. */
const SHOWN: [schema: string, field: string, page: string, keyOf: (value: string) => string][] = [
  ["ArmView", "arm", "memory", (arm) => `arm.${arm}`],
  ["ArmView", "arm", "playground", (arm) => `arm.${arm}`],
  ["LeftOutView", "reason", "playground", (one) => `reason.${one.replace(/[^a-z]+/gi, "-")}`],
  ["LeftOutView", "reason", "sources", (one) => `reason.${one.replaceAll(" ", "_")}`],
  ["OperationView", "verb", "activity", (verb) => `verb.${verb}`],
  ["OperationView", "verb", "memory", (verb) => `verb.${verb}`],
  ["ContextView", "degraded", "playground", (part) => `degraded.${part}`],
];

for (const [language, book] of Object.entries(BOOKS)) {
  for (const [schema, field, page, keyOf] of SHOWN) {
    test(`every value of ${schema}.${field} is translated in ${page}: ${language}`, () => {
      const missing = valuesOf(schema, field).filter((value) => !book[page]?.[keyOf(value)]);
      assert.deepEqual(missing, []);
    });
  }
}

test("unknown name is shown in a readable form", () => {
  assert.equal(nameText("memory.arm.link", "link"), "linked");
  assert.equal(nameText("memory.arm.brand_new-one", "brand_new-one"), "brand new one");
});

test("percentages are formatted for the language, and not part of a message", () => {
  for (const [language, book] of Object.entries(BOOKS))
    for (const [page, messages] of Object.entries(book))
      for (const [name, message = ""] of Object.entries(messages))
        assert.doesNotMatch(message, /\d\s*%/, `${language} ${page}.${name}`);
});
