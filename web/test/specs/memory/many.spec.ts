/** Latency with ten thousand memories: the first screen, and each interaction. */
import { expect, open, seedMany, test } from "../../fixture.ts";
import { isIdle, LatencyMeter, mainThreadMs } from "../../latency.ts";

const MAX_FIRST_SCREEN_MS = 1_000;

// A trace takes a screenshot with every step, which would be timed as well.
test.use({ trace: "off" });

test("with ten thousand memories the first screen takes under 1 s, and an interaction under 100 ms", async ({
  page,
  lukasa,
}) => {
  test.setTimeout(300_000);
  await seedMany(lukasa, 10_000);
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector("button[data-memory]")) return;
      observer.disconnect();
      // Two frames later the first row is painted.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => Object.assign(window, { firstRow: performance.now() })),
      );
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  // The first visit warms the server.
  await open(page, "/memory");
  await expect(page.getByText("10,000 memories", { exact: true })).toBeVisible({
    timeout: 120_000,
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const screens: { wall: number; work: number }[] = [];
  for (let visit = 0; visit < 3; visit++) {
    await page.goto("/memory", { waitUntil: "commit" });
    const shown = await page.waitForFunction(
      () => (window as unknown as { firstRow?: number }).firstRow,
    );
    // The browser counts from the navigation on.
    const wall = (await shown.jsonValue()) ?? 0;
    screens.push({ wall, work: (await mainThreadMs(cdp)).task });
  }
  for (const { wall, work } of screens)
    console.log(`first row after ${wall.toFixed(0)} ms, ${work.toFixed(0)} ms of work`);
  const best = (part: "wall" | "work") => Math.min(...screens.map((one) => one[part]));
  expect(best("work")).toBeLessThan(MAX_FIRST_SCREEN_MS);
  if (isIdle()) expect(best("wall")).toBeLessThan(MAX_FIRST_SCREEN_MS);

  await expect(page.getByText("10,000 memories", { exact: true })).toBeVisible({
    timeout: 120_000,
  });
  // Only the visible rows are rendered.
  expect(await page.locator("button[data-memory]").count()).toBeLessThan(80);
  const meter = await LatencyMeter.on(page);
  const times = async (count: number, ...keys: string[]) => {
    for (let at = 0; at < count; at++) for (const key of keys) await page.keyboard.press(key);
    return count * keys.length;
  };
  await meter.measure("J", () => times(30, "j"));
  await meter.measure("X and down", () => times(10, "x", "ArrowDown"));
  await meter.measure("to the end and back", () => times(3, "End", "Home"));
  await meter.measure("F", () => times(5, "f"));
  await meter.measure("typing a filter", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("fact 99 travel", { delay: 60 });
    return 15;
  });
  await expect(page.locator("button[data-memory]").first()).toContainText(/travel/);
  meter.check();
});

test("ten thousand memories: detail, edit, palette, board, timeline and beads take under 100 ms of script", async ({
  page,
  lukasa,
}) => {
  test.setTimeout(300_000);
  await seedMany(lukasa, 10_000);
  await open(page, "/memory");
  await expect(page.getByText("10,000 memories", { exact: true })).toBeVisible({
    timeout: 120_000,
  });
  const meter = await LatencyMeter.on(page);
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
    return keys.length;
  };
  const rows = page.locator("button[data-memory]");
  const panel = page.getByRole("complementary", { name: "Memory" });
  await meter.measure("open the detail, close it", async () => {
    for (let at = 0; at < 3; at++) {
      await press("j", "Enter");
      await expect(panel).toBeVisible();
      await press("Escape");
      await expect(panel).toHaveCount(0);
    }
    return 9;
  });
  await meter.measure("edit in place", async () => {
    await press("e");
    await page.keyboard.type(" again", { delay: 60 });
    await press("Escape");
    return 8;
  });
  const palette = page.getByRole("combobox", { name: /Search/ });
  await meter.measure("search in the palette", async () => {
    await press("ControlOrMeta+k");
    await expect(palette).toBeVisible();
    await page.keyboard.type("travel 99", { delay: 80 });
    return 10;
  });
  await press("Escape", "Escape");
  await expect(palette).toHaveCount(0);
  const show = (view: string) => page.getByRole("button", { name: view, exact: true }).click();
  // Parts of the page that are loaded on demand are loaded first: a download is not a script of an interaction.
  for (const view of ["Board by area", "Timeline", "Beads", "List"]) {
    await show(view);
    await page.waitForTimeout(300);
  }
  await meter.measure("to the board and back", async () => {
    for (const view of ["Board by area", "List"]) await show(view);
    await expect(rows.first()).toBeVisible();
    return 2;
  });
  await show("Board by area");
  await expect(rows.first()).toBeVisible();
  await rows.first().focus();
  await meter.measure("move on the board", () =>
    press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft"),
  );
  await meter.measure("to the timeline and back", async () => {
    for (const view of ["Timeline", "List"]) await show(view);
    return 2;
  });
  await meter.measure("to the beads and back", async () => {
    await show("Beads");
    await expect(page.locator("[data-bead]").first()).toBeVisible();
    await show("List");
    return 2;
  });
  await show("Beads");
  await expect(page.locator("[data-bead]").first()).toBeVisible();
  expect(await page.locator("[data-bead]").count()).toBeLessThan(1_000);
  await page.locator("[data-bead][tabindex='0']").focus();
  await meter.measure("move on the beads", () => press("ArrowLeft", "ArrowLeft", "Home", "End"));
  await meter.measure("zoom the beads", () => press("+", "+", "-", "0"));
  await page.getByRole("slider", { name: "What Lukasa knew on" }).focus();
  await meter.measure("move the time of the beads", () =>
    press("Home", "ArrowRight", "ArrowRight", "PageUp", "End"),
  );
  await meter.measure("the beads as a table and back", async () => {
    await show("As a table");
    await show("As beads");
    return 2;
  });
  meter.check();
});
