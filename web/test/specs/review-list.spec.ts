import { axe, expect, open, screens, test } from "../fixture.ts";

const MANY = 3_000;
const PER_REQUEST = 500;

test("three thousand suggestions: ranges are answered together, and undone as one", async ({
  page,
  lukasa,
  allowed,
}) => {
  test.setTimeout(120_000);
  allowed.push(/404/);
  const items = Array.from({ length: MANY }, (_, at) =>
    JSON.stringify({
      item: "memory",
      source: String(at),
      content: `Always recommend hotel number ${at} first`,
    }),
  );
  for (let from = 0; from < MANY; from += PER_REQUEST) {
    await lukasa.imports.take(items.slice(from, from + PER_REQUEST).join("\n"), { source: "many" });
  }
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
