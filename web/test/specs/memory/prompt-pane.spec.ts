/** What the assistant sees: the lines of the prompt beside the list, live. */
import { axe, expect, open, screens, seed, test } from "../../fixture.ts";

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
  const pane = page.getByRole("complementary", { name: "What the assistant sees" });
  const lines = pane.getByRole("list", { name: "Lines of the prompt" });
  await expect(lines).toContainText("Plays the cello");
  await expect(lines).toContainText("Never suggest dishes with peanuts");
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
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(2);
  await expect(lines.locator("del")).toContainText("Plays the cello");
  await page.keyboard.press("z");
  await expect(lines.locator("del")).toHaveCount(0);
  await expect(lines).toContainText("Plays the cello");

  // What is saved elsewhere appears, and a line is forgotten from here.
  await lukasa.memories.save("Keeps bees on the roof");
  await expect(lines).toContainText("Keeps bees on the roof");
  await pane.getByRole("button", { name: /^Forget: Keeps bees/ }).click();
  await expect(lines.locator("del")).toContainText("Keeps bees");

  // Looking is no use: nothing of this is counted.
  await expect.poll(async () => (await lukasa.memories.usage().all()).length).toBe(0);
  const { days } = await lukasa.insights(7);
  expect(days.reduce((sum, one) => sum + one.retrievals, 0)).toBe(0);
});
