import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { de } from "../../src/i18n/de/index.ts";
import { domainName } from "../../src/i18n/domains.ts";
import { first } from "../../src/i18n/en/first.ts";
import { en } from "../../src/i18n/en/index.ts";
import { type Part, pseudo, read, write } from "../../src/i18n/icu.ts";
import { localeOf } from "../../src/i18n/index.ts";

type Book = Record<string, Record<string, string | undefined>>;

function names(parts: Part[]): string[] {
  const found = parts.flatMap((part): string[] => {
    if (part.kind === "value") return [part.name];
    return part.kind === "choice" ? [part.name, ...Object.values(part.cases).flatMap(names)] : [];
  });
  return [...new Set(found)].sort();
}

test("messages with plurals, choices and numbers", () => {
  const message = read("{count, plural, =0 {none} one {# memory} other {# memories}} of {who}");
  assert.equal(write(message, { count: 0, who: "Ann" }, "en"), "none of Ann");
  assert.equal(write(message, { count: 1, who: "Ann" }, "en"), "1 memory of Ann");
  assert.equal(write(message, { count: 1200, who: "Ann" }, "de"), "1.200 memories of Ann");
  assert.equal(write(read("{a, select, x {X {b}} other {?}}"), { a: "x", b: "!" }, "en"), "X !");
});

test("malformed messages are rejected", () => {
  for (const wrong of ["{", "a }", "{a, plural, one {x}}", "{a, b}", "{a, plural, other {x}"]) {
    assert.throws(() => read(wrong), Error, wrong);
  }
});

test("pseudo-locale changes letters and nothing else", () => {
  const made = pseudo(read("{count, plural, one {# memory} other {# memories}} of {who}"));
  assert.equal(write(made, { count: 2, who: "Ann" }, "en"), "2 mémóríés óf Ann");
});

test("messages parse, and German has the same placeholders as English", () => {
  for (const [page, words] of Object.entries(en as Book)) {
    for (const [name, message] of Object.entries(words)) {
      const english = names(read(message ?? ""));
      const german = (de as Book)[page]?.[name];
      if (german !== undefined) assert.deepEqual(names(read(german)), english, `${page}.${name}`);
    }
  }
});

test("locale is the browser's own variant of the language", () => {
  assert.equal(localeOf("en", ["de-AT", "en-GB", "en-US"]), "en-GB");
  assert.equal(localeOf("de", ["en-GB"]), "de");
});

test("every page of messages is used", () => {
  const src = new URL("../../src/", import.meta.url).pathname;
  const code = globSync(`${src}**/*.ts*`)
    .filter((file) => !/\/i18n\/(?:en|de)\//.test(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const unused = Object.keys(en).filter((page) => !new RegExp(`["\`]${page}\\.`).test(code));
  assert.deepEqual(unused, []);
});

test("built-in areas are translated, others keep their name", () => {
  assert.equal(domainName("food"), "Food and dining");
  assert.equal(domainName("bees"), "bees");
  const own = { name: "food", display_name: "Cooking", builtin: false };
  assert.equal(domainName(own), "Cooking");
});

test("messages outside of the first load are used by their own page or feature only, which adds them", () => {
  const src = new URL("../../src/", import.meta.url).pathname;
  const later = Object.keys(en).filter((page) => !Object.hasOwn(first, page));
  const used = later.flatMap((page) =>
    globSync(
      ["app", "base", "data", "features", "pages", "ui"].map((one) => `${src}${one}/**/*.ts*`),
    )
      .filter((file) => new RegExp(`["\`]${page}\\.`).test(readFileSync(file, "utf8")))
      .map((file) => file.slice(src.length))
      .filter((file) => !new RegExp(`^(?:pages|features)/${page}/`).test(file)),
  );
  assert.deepEqual(used, []);
  for (const page of later) {
    const [own = ""] = globSync(`${src}{pages,features}/${page}/index.tsx`);
    const code = readFileSync(own, "utf8");
    assert.ok(code.includes(`addMessages({ ${page} })`), page);
  }
});
