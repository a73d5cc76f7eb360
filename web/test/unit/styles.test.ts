/** The look of the console: one type scale, two page layouts, and an accent that is not the colour of danger. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));
const styles = readFileSync(join(SRC, "styles.css"), "utf8");

const components = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".tsx"))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), "utf8") }));

/** Font sizes that are not in the type scale of `styles.css`. */
function strayFontSizes(text: string): string[] {
  return text.match(/\btext-(?:xs|sm|base|lg|\d?xl|\[[\d.]+(?:rem|px|em)\])(?![\w-])/g) ?? [];
}

test("components use the sizes of the type scale only", () => {
  const found = components.flatMap(({ file, text }) =>
    strayFontSizes(text).map((size) => `${file}: ${size}`),
  );
  assert.deepEqual(found, []);
});

test("a size outside of the type scale is found", () => {
  assert.deepEqual(strayFontSizes('<p className="text-sm md:text-[0.9rem] text-meta">'), [
    "text-sm",
    "text-[0.9rem]",
  ]);
});

test("pages use one of the two layouts and set no width of their own", () => {
  const found = components
    .filter(({ file, text }) => file.startsWith("pages/") && /<Page\b/.test(text))
    .filter(({ text }) => /mx-auto [^"]*max-w-(?:\dxl|xl|lg)/.test(text))
    .map(({ file }) => file);
  assert.deepEqual(found, []);
});

/** The hues of a colour token in OKLCH, light and dark. */
function hues(token: string): number[] {
  const values = styles.matchAll(
    new RegExp(`--${token}: oklch\\([\\d.]+ [\\d.]+ ([\\d.]+)\\)`, "g"),
  );
  return [...values].map(([, hue]) => Number(hue));
}

test("accent and danger are far apart in hue, in light and dark", () => {
  const [accent, bad] = [hues("accent"), hues("bad")];
  assert.equal(accent.length, 2);
  assert.equal(bad.length, 2);
  accent.forEach((hue, at) => {
    const distance = Math.abs(hue - (bad[at] ?? 0));
    assert.ok(Math.min(distance, 360 - distance) > 90, `${hue} and ${bad[at]}`);
  });
});
