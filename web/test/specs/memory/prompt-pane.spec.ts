/** What the assistant sees: the lines of the prompt beside the list, live. */
import type { Page } from "@playwright/test";
import type { ContextView } from "lukasa-client";
import { axe, expect, open, screens, seed, test } from "../../fixture.ts";

const paneOf = (page: Page) => page.getByRole("complementary", { name: "What the assistant sees" });
const linesOf = (page: Page) => paneOf(page).getByRole("region", { name: "Lines of the prompt" });

test("forgotten memory is struck in the prompt at once, and undo brings it back", async ({
  page,
  lukasa,
}) => {
  await seed(lukasa, [
    "Lives in Lyon with two cats",
    "Plays the cello",
    {
      content: "Never suggest dishes with peanuts",
      force: "hard",
      domain: "food",
      key: "diet.peanuts",
      value: "never",
    },
  ]);
  await open(page, "/memory");
  await expect(page.locator("button[data-memory]").first()).toBeVisible();
  await page.keyboard.press("p");
  const pane = paneOf(page);
  const lines = linesOf(page);
  await expect(lines).toContainText("Plays the cello");
  await expect(lines).toContainText("Never suggest dishes with peanuts");
  // Each heading has a list of its own.
  const headings = lines.getByRole("heading", { level: 3 });
  await expect(headings).not.toHaveCount(0);
  await expect(lines.getByRole("list")).toHaveCount(await headings.count());
  await axe(page);
  await screens(page, "memory-prompt");

  await page.locator("button[data-memory]", { hasText: "Plays the cello" }).focus();
  // Before the server has answered.
  await page.route("**/forget", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await route.continue();
  });
  await page.keyboard.press("f");
  await expect(lines.locator("del")).toContainText("Plays the cello", { timeout: 1_000 });
  await expect(pane.getByRole("status")).toContainText(/^No longer included: .*Plays the cello/);
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(2);
  await expect(lines.locator("del")).toContainText("Plays the cello");
  await page.keyboard.press("z");
  await expect(lines.locator("del")).toHaveCount(0);
  await expect(lines).toContainText("Plays the cello");
  await expect(pane.getByRole("status")).toBeEmpty();

  // What is saved elsewhere appears, and a line is forgotten from here.
  await lukasa.memories.save("Keeps bees on the roof");
  await expect(lines).toContainText("Keeps bees on the roof");
  await pane.getByRole("button", { name: /^Forget: Keeps bees/ }).click();
  await expect(lines.locator("del")).toContainText("Keeps bees");

  // Looking is not a use: nothing of this is counted.
  await expect.poll(async () => (await lukasa.memories.usage().all()).length).toBe(0);
  const { days } = await lukasa.insights(7);
  expect(days.reduce((sum, one) => sum + one.retrievals, 0)).toBe(0);

  await page.keyboard.press("Escape");
  await expect(pane).toHaveCount(0);
});

test("active memory is struck when its area is turned off", async ({ page, lukasa }) => {
  await lukasa.domains.open("health");
  await seed(lukasa, [
    "Plays the cello",
    { content: "Takes insulin every morning", domain: "health" },
  ]);
  await open(page, "/memory?prompt=true");
  const lines = linesOf(page);
  await expect(lines).toContainText("Takes insulin every morning");
  await lukasa.domains.close("health");
  // The next change makes the pane read the prompt again.
  await lukasa.memories.save("Keeps bees on the roof");
  await expect(lines).toContainText("Keeps bees on the roof");
  await expect(lines.locator("del")).toContainText("Takes insulin every morning");
  await expect(lines.locator("del")).toHaveCount(1);

  // The same within the console, without another change.
  await lukasa.domains.open("health");
  await page.reload();
  await expect(lines).toContainText("Takes insulin every morning");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("switch", { name: /^Health/ }).click();
  await expect(page.getByRole("status").getByText("Health is off")).toBeVisible();
  await page.getByRole("link", { name: "Memory", exact: true }).click();
  await expect(page.locator("button[data-memory]").first()).toBeVisible();
  await page.keyboard.press("p");
  await expect(lines.locator("del")).toContainText("Takes insulin every morning");
});

test("line of several memories offers each of them, and is struck with any of them", async ({
  page,
  lukasa,
}) => {
  const saved = await seed(lukasa, ["Lives in Lyon", "Plays the cello"]);
  const [lyon = "", cello = ""] = saved.map(({ memory }) => memory?.id ?? "");
  // The server combines memories only where its budget is short, which takes very many of them.
  await page.route("**/api/memory/retrieve", async (route) => {
    const response = await route.fetch();
    const context = (await response.json()) as ContextView;
    await route.fulfill({
      response,
      json: { ...context, baseline: combined(context, lyon, cello) },
    });
  });
  await open(page, "/memory?prompt=true");
  const line = linesOf(page).getByRole("button", { name: /Lives in Lyon.*and Plays the cello/ });
  await expect(line).toBeVisible();
  await expect(paneOf(page).getByRole("button", { name: /^Forget/ })).toHaveCount(0);
  await line.click();
  await expect(page.getByRole("menuitem")).toHaveText(["Lives in Lyon", "Plays the cello"]);
  await axe(page);
  await page.keyboard.press("Escape");
  await page.locator("button[data-memory]", { hasText: "Plays the cello" }).focus();
  await page.keyboard.press("f");
  await expect(linesOf(page).locator("del")).toContainText("Lives in Lyon");
  await page.keyboard.press("z");
  await expect(linesOf(page).locator("del")).toHaveCount(0);
  await line.click();
  await page.getByRole("menuitem", { name: "Plays the cello" }).click();
  await expect(page).toHaveURL(new RegExp(`one=${cello}`));
});

/** The baseline with the lines of two memories as one; unchanged if it has only one of them. */
function combined({ baseline }: ContextView, first: string, second: string) {
  const [one, other] = [first, second].map((id) =>
    baseline.citations.find((citation) => citation.memory_id === id),
  );
  if (!one || !other) return baseline;
  const lines = baseline.content.split("\n").filter((line) => !line.includes(`[${other.mark}]`));
  return {
    ...baseline,
    content: lines
      .map((line) => (line.includes(`[${one.mark}]`) ? `${line} and ${other.text}` : line))
      .join("\n"),
    citations: baseline.citations
      .filter((citation) => citation !== other)
      .map((citation) =>
        citation === one ? { ...citation, also_memory_ids: [second] } : citation,
      ),
  };
}
