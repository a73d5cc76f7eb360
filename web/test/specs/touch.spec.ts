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
    const controls =
      "a[href], button, input, select, textarea, [role=tab], [role=switch], [role=button]";
    for (const control of document.querySelectorAll<HTMLElement>(controls)) {
      const target = control.closest<HTMLElement>("label, [data-target]") ?? control;
      if (!target.checkVisibility({ visibilityProperty: true }) || target.closest(".sr-only"))
        continue;
      if (target.closest("[aria-hidden=true], [inert]") || target.classList.contains("sr-only"))
        continue;
      // Shapes of a drawing are all "inline".
      const isInline = getComputedStyle(target).display === "inline" && !target.closest("svg");
      if (isInline || target.closest("p")) continue;
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

/**
 * Controls that an edge cuts off, as text: of the screen, or of an element that hides what overflows. What is meant to
 * be scrolled sideways has `overflow-x-auto`.
 */
async function clippedControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const control of document.querySelectorAll<HTMLElement>(
      "a[href], button, input, select, textarea",
    )) {
      if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (control.closest(".sr-only, [aria-hidden=true], [inert], svg")) continue;
      const box = control.getBoundingClientRect();
      if (box.width <= 1 || box.height <= 1) continue;
      let [left, right] = [0, document.documentElement.clientWidth];
      for (let over = control.parentElement; over; over = over.parentElement) {
        if (over.classList.contains("overflow-x-auto")) {
          [left, right] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
          break;
        }
        if (getComputedStyle(over).overflowX === "visible") continue;
        const edge = over.getBoundingClientRect();
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      }
      if (box.left < left - 1 || box.right > right + 1) {
        const name = control.getAttribute("aria-label") ?? control.textContent ?? "";
        found.push(`${control.tagName} "${name.slice(0, 40)}" ${box.left} to ${box.right}`);
      }
    }
    return found;
  });
}

async function expectFitsFingers(page: Page): Promise<void> {
  expect(await smallTargets(page)).toEqual([]);
  expect(await clippedControls(page)).toEqual([]);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
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
    await expectFitsFingers(page);
  });
}

test("targets are large enough, and nothing overflows: empty memory", async ({ page }) => {
  await open(page, "/memory");
  await page.getByRole("textbox", { name: "Pasted facts" }).fill("Lives in Lyon\nHas two cats");
  await expectFitsFingers(page);
});

test("hint of the next step keeps its controls in one row, and the copy button beside its text", async ({
  page,
  lukasa,
}) => {
  await lukasa.memories.save("Lives in Lyon");
  await open(page, "/memory");
  const hint = page.getByRole("region", { name: "Next step" });
  const top = async (name: string, role: "link" | "button") => {
    const box = await hint.getByRole(role, { name }).boundingBox();
    return box && box.y + box.height / 2;
  };
  const row = await top("Connect", "link");
  expect(await top("Import", "link")).toBeCloseTo(row ?? 0, 0);
  expect(await top("Hide this hint", "button")).toBeCloseTo(row ?? 0, 0);
  await expectFitsFingers(page);
  await open(page, "/settings?tab=assistants");
  await page.getByText("Show configuration").first().click();
  const code = page.locator("pre").first();
  const [text, copy] = await Promise.all([
    code.boundingBox(),
    code.locator("xpath=..").getByRole("button", { name: "Copy" }).boundingBox(),
  ]);
  expect((text?.x ?? 0) + (text?.width ?? 0)).toBeLessThanOrEqual(copy?.x ?? 0);
});

test("beads are large enough for fingers, also where they are many", async ({ page, lukasa }) => {
  for (const domain of ["food", "travel"]) {
    for (const days of [300, 299, 298, 20, 19]) {
      const valid_from = new Date(Date.now() - days * 86_400_000).toISOString();
      await lukasa.memories.save({ content: `Day ${days} about ${domain}`, domain, valid_from });
    }
  }
  await open(page, "/memory?view=shape");
  const other = page.locator("[data-bead^='food'][tabindex='-1']").first();
  await expect(other).toBeVisible();
  expect(await smallTargets(page)).toEqual([]);
  // The first tap selects, and the caption says what the bead says; the second one zooms in.
  const caption = page.getByRole("region", { name: "Selected bead" });
  const earlier = page.getByRole("button", { name: "Earlier" });
  const id = await other.getAttribute("data-bead");
  await other.tap();
  await expect(caption).toContainText("about food");
  await expect(earlier).toHaveCount(0);
  await page.locator(`[data-bead="${id}"]`).tap();
  await expect(earlier).toBeVisible();
  expect(await smallTargets(page)).toEqual([]);
});

test("a clipped control is found, and one that is scrolled to is not", async ({ page }) => {
  await open(page, "/memory");
  await page.evaluate(() => {
    for (const overflow of ["hidden", "auto", ""]) {
      const place = document.createElement("div");
      place.style.cssText = `position:fixed;top:0;left:0;width:200px;height:60px;overflow:${overflow}`;
      if (!overflow) place.className = "overflow-x-auto";
      const button = document.createElement("button");
      button.textContent = `planted ${overflow}`;
      button.style.cssText = "width:300px;height:48px";
      place.append(button);
      document.body.append(place);
    }
  });
  const found = await clippedControls(page);
  expect(found.map((one) => one.split('"')[1])).toEqual(["planted hidden", "planted auto"]);
});

test("a small target is found, also in a drawing", async ({ page }) => {
  await open(page, "/memory");
  await page.evaluate(() => {
    const button = document.createElement("button");
    button.textContent = "planted";
    button.style.cssText = "position:fixed;top:0;width:28px;height:28px";
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const drawn = document.createElementNS(drawing.namespaceURI, "g");
    drawn.setAttribute("role", "button");
    drawn.setAttribute("aria-label", "drawn");
    const circle = document.createElementNS(drawing.namespaceURI, "circle");
    for (const name of ["r", "cx", "cy"]) circle.setAttribute(name, "9");
    drawn.append(circle);
    drawing.append(drawn);
    drawing.style.cssText = "position:fixed;top:50px";
    document.body.append(button, drawing);
  });
  const found = (await smallTargets(page)).join();
  expect(found).toContain("planted");
  expect(found).toContain("drawn");
});
