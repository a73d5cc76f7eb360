/** Phones: sizes of targets for fingers, and nothing that is wider than the screen. */
import type { Page } from "@playwright/test";
import { expect, open, ROUTES, SOME, seed, test } from "../fixture.ts";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

const MIN_SIZE = 44;

/**
 * Controls that a finger cannot hit, as text. A control inside a label, inside the area that acts for it
 * (`data-target`) or with an enlarged area is measured with it; links within a sentence are exempt, as in WCAG 2.5.5.
 */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((min) => {
    const found: string[] = [];
    const controls = "a[href], button, input, select, textarea, [role=tab], [role=switch]";
    for (const control of document.querySelectorAll<HTMLElement>(controls)) {
      const target = control.closest<HTMLElement>("label, [data-target]") ?? control;
      if (!target.checkVisibility({ visibilityProperty: true }) || target.closest(".sr-only"))
        continue;
      if (target.closest("[aria-hidden=true], [inert]") || target.classList.contains("sr-only"))
        continue;
      if (getComputedStyle(target).display === "inline" || target.closest("p")) continue;
      const box = target.getBoundingClientRect();
      if (box.width <= 1 || box.height <= 1) continue;
      const area = getComputedStyle(target, "::after");
      const grow = (side: "top" | "left") =>
        area.position === "absolute" && area.content !== "none"
          ? -2 * Number.parseFloat(area[side])
          : 0;
      const [width, height] = [box.width + grow("left"), box.height + grow("top")];
      if (width < min - 0.5 || height < min - 0.5) {
        const name = control.getAttribute("aria-label") ?? control.textContent ?? "";
        found.push(`${control.tagName} "${name.slice(0, 40)}" ${width} x ${height}`);
      }
    }
    return found;
  }, MIN_SIZE);
}

for (const route of [
  ...ROUTES,
  "/memory?view=shape",
  "/memory?prompt=true",
  "/review?view=list",
  "/settings?tab=assistants",
]) {
  test(`targets are large enough, and nothing overflows: ${route}`, async ({ page, lukasa }) => {
    await seed(lukasa, SOME);
    if (route.includes("/review")) await lukasa.memories.propose("Prefers an aisle seat");
    await open(page, route);
    await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => {});
    expect(await smallTargets(page)).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
  });
}

test("targets are large enough, and nothing overflows: empty memory", async ({ page }) => {
  await open(page, "/memory");
  await page.getByRole("textbox", { name: "Pasted facts" }).fill("Lives in Lyon\nHas two cats");
  expect(await smallTargets(page)).toEqual([]);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
});

test("a small target is found", async ({ page }) => {
  await open(page, "/memory");
  await page.evaluate(() => {
    const button = document.createElement("button");
    button.textContent = "planted";
    button.style.cssText = "position:fixed;top:0;width:28px;height:28px";
    document.body.append(button);
  });
  expect((await smallTargets(page)).join()).toContain("planted");
});
