import type { Lukasa } from "lukasa-client";
import { axe, expect, open, screens, test } from "../fixture.ts";
import { LatencyMeter } from "../latency.ts";

const MANY = 3_000;
const PER_REQUEST = 500;
const ANSWERS_PER_REQUEST = 200;

/** Imports instructions, which all become suggestions. */
async function seedProposals(lukasa: Lukasa): Promise<void> {
  const items = Array.from({ length: MANY }, (_, at) =>
    JSON.stringify({
      item: "memory",
      source: String(at),
      content: `Always recommend hotel number ${at} first`,
    }),
  );
  for (let from = 0; from < MANY; from += PER_REQUEST) {
    await lukasa.imports.create(items.slice(from, from + PER_REQUEST).join("\n"), {
      source: "many",
    });
  }
}

test("three thousand suggestions: ranges are answered together, and undone as one", async ({
  page,
  lukasa,
  allowed,
}) => {
  test.setTimeout(120_000);
  allowed.push(/404/);
  await seedProposals(lukasa);
  await open(page, "/review");
  await page.getByRole("button", { name: "List", exact: true }).click();
  await expect(page).toHaveURL(/view=list/);
  const list = page.getByRole("list", { name: "Suggestions and guesses" });
  await expect(page.getByRole("button", { name: "Select all 3,000" })).toBeVisible({
    timeout: 30_000,
  });
  expect(await page.locator("*").count()).toBeLessThan(1_500);
  await axe(page);

  // A range by mouse, and more of it by keyboard.
  const rows = list.getByRole("checkbox");
  await rows.nth(0).click();
  await rows.nth(4).click({ modifiers: ["Shift"] });
  await expect(page.getByText("5 selected")).toBeVisible();
  await page.keyboard.press("Shift+ArrowDown");
  await expect(page.getByText("6 selected")).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  await expect(page.getByText("7 selected")).toBeVisible();
  await screens(page, "review-list");
  const proposed = async () =>
    (await lukasa.memories.list({ status: "proposed", limit: 200 }).all()).length;
  await page.getByRole("button", { name: "Keep 7" }).click();
  await expect(page.getByRole("button", { name: "Select all 2,993" })).toBeVisible();
  await expect.poll(proposed).toBe(MANY - 7);
  await page.keyboard.press("z");
  await expect(page.getByRole("button", { name: "Select all 3,000" })).toBeVisible();
  await expect.poll(proposed).toBe(MANY);

  // Everything can be chosen at once; the end of the list is reached by key.
  await rows.first().focus();
  await page.keyboard.press("End");
  await expect(rows.last()).toBeFocused();
  await page.keyboard.press("ControlOrMeta+a");
  await expect(page.getByRole("button", { name: "Decline 3,000" })).toBeEnabled();
  await page.getByRole("button", { name: "Select none" }).click();
  await expect(page.getByRole("button", { name: "Decline", exact: true })).toBeDisabled();

  const meter = await LatencyMeter.on(page);
  await rows.first().focus();
  await meter.measure("select a row and move on", async () => {
    for (let at = 0; at < 10; at++) {
      await page.keyboard.press("x");
      await page.keyboard.press("ArrowDown");
    }
    return 20;
  });
  await meter.measure("select all", async () => {
    for (let at = 0; at < 5; at++) await page.keyboard.press("ControlOrMeta+a");
    return 5;
  });
  await meter.measure("to the end and back", async () => {
    await rows.first().focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    return 2;
  });

  // All of them are kept: two hundred answers in each request, and the page handles each of their results.
  await page.keyboard.press("ControlOrMeta+a");
  await meter.measure("keep three thousand, for each request", async () => {
    await page.getByRole("button", { name: "Keep 3,000" }).click();
    await expect.poll(proposed, { timeout: 120_000 }).toBe(0);
    return MANY / ANSWERS_PER_REQUEST;
  });
  meter.check();
});

test("memory page beside three thousand suggestions takes under 100 ms of script", async ({
  page,
  lukasa,
}) => {
  test.setTimeout(120_000);
  await seedProposals(lukasa);
  for (let at = 0; at < 20; at++) await lukasa.memories.save(`Likes tea number ${at}`);
  await open(page, "/memory");
  const rows = page.locator("button[data-memory]");
  await expect(page.getByText("20 memories", { exact: true })).toBeVisible({ timeout: 30_000 });
  expect(await page.locator("*").count()).toBeLessThan(1_500);
  const meter = await LatencyMeter.on(page);
  await meter.measure("J beside the suggestions", async () => {
    for (let at = 0; at < 10; at++) await page.keyboard.press("j");
    return 10;
  });
  await meter.measure("forget and undo", async () => {
    await page.keyboard.press("f");
    await page.keyboard.press("z");
    return 2;
  });
  await meter.measure("typing a filter", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("number 1", { delay: 60 });
    return 9;
  });
  await expect(rows.first()).toContainText("number 1");
  meter.check();
});

test("contradictions are answered many at once, and undone as one", async ({ page, lukasa }) => {
  for (const content of [
    "User lives in Porto.",
    "User's name is Ana.",
    "User lives in Lyon.",
    "User's name is Eva.",
  ]) {
    await lukasa.memories.save(content);
  }
  await lukasa.learning.consolidate();
  // The memory shows both sides as disputed until there is an answer.
  await open(page, "/memory");
  await expect(page.getByText("disputed", { exact: true })).toHaveCount(4);
  await page.getByText("User lives in Porto.", { exact: true }).click();
  await page.getByRole("link", { name: "Decide" }).click();
  await expect(page).toHaveURL(/kind=contradiction/);
  await open(page, "/review?view=list");
  await page.getByRole("button", { name: /^Contradictions/ }).click();
  await expect(page).toHaveURL(/kind=contradiction/);
  const rows = page.getByRole("list", { name: "Contradictions" }).getByRole("checkbox");
  await expect(rows).toHaveCount(2);
  await axe(page);
  const current = async () =>
    (await lukasa.memories.list().all()).map((memory) => memory.content).sort();
  const all = await current();

  await page.keyboard.press("ControlOrMeta+a");
  await expect(page.getByText("2 selected")).toBeVisible();
  await screens(page, "review-contradictions");
  await page.getByRole("button", { name: /^Take what was said later/ }).click();
  await expect(rows).toHaveCount(0);
  await expect.poll(current).toEqual(["User lives in Lyon.", "User's name is Eva."]);
  await page.keyboard.press("z");
  await expect(rows).toHaveCount(2);
  await expect.poll(current).toEqual(all);

  // It changed: the saved ones end on the day, and all writes are one undo again.
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("4");
  await page.getByLabel("Day of the change").fill("2026-02-01");
  await page.keyboard.press("Enter");
  await expect(rows).toHaveCount(0);
  await expect.poll(current).toEqual(["User lives in Lyon.", "User's name is Eva."]);
  const ended = (await lukasa.memories.list({ status: "all" }).all()).filter(
    (memory) => memory.valid_until?.slice(0, 10) === "2026-02-01",
  );
  expect(ended).toHaveLength(2);
  await page.keyboard.press("z");
  await expect.poll(current).toEqual(all);
  await expect(rows).toHaveCount(2);

  await rows.first().click();
  await page.keyboard.press("3");
  await expect(rows).toHaveCount(1);
  await expect.poll(current).toEqual(all);
});

test("review list filters by area and answers by key", async ({ page, lukasa }) => {
  for (const content of ["Likes rye bread", "Likes short answers", "Likes early trains"]) {
    await lukasa.memories.propose({ content, domain: content.includes("rye") ? "food" : null });
  }
  await open(page, "/review?view=list");
  const rows = page.getByRole("list", { name: "Suggestions and guesses" }).getByRole("checkbox");
  await expect(rows).toHaveCount(3);
  await page.getByRole("button", { name: /^Food and dining/ }).click();
  await expect(rows).toHaveCount(1);
  await rows.first().click();
  const sent = page.waitForRequest("**/api/review/answers");
  await page.keyboard.press("ArrowLeft");
  await sent;
  await expect(rows).toHaveCount(2);
  await page.keyboard.press("z");
  await expect(rows.filter({ hasText: "rye" })).toHaveCount(1);
});
