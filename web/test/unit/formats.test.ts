/** Formatters of numbers and dates are made once, and by one module. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { dateFormat, numberFormat } from "../../src/i18n/formats.ts";

test("formatters are made once for a language and options", () => {
  assert.equal(numberFormat("en"), numberFormat("en"));
  assert.notEqual(numberFormat("en"), numberFormat("de"));
  assert.notEqual(numberFormat("en"), numberFormat("en", { style: "percent" }));
  assert.equal(numberFormat("de").format(1234.5), "1.234,5");
  const zone = (timeZone: string) =>
    dateFormat("en", { dateStyle: "medium", timeZone }).format(Date.UTC(2026, 0, 1, 2));
  assert.equal(zone("UTC"), "Jan 1, 2026");
  assert.equal(zone("America/New_York"), "Dec 31, 2025");
});

test("no other module makes formatters", () => {
  const made = /new Intl\.(Number|DateTime|RelativeTime|List)Format|new Intl\.PluralRules/;
  // Checks names of time zones, which throws for unknown ones.
  const except = ["i18n/formats.ts", "data/time-zone.ts"];
  const root = new URL("../../src/", import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => /\.tsx?$/.test(name) && !except.includes(name));
  assert.ok(sources.length > 100);
  const wrong = sources.filter((name) => made.test(readFileSync(new URL(name, root), "utf8")));
  assert.deepEqual(wrong, []);
  assert.match(readFileSync(new URL("i18n/formats.ts", root), "utf8"), made);
});
