/** Rows on phones: swiped to confirm and to forget, with undo. */
import { axe, expect, open, screens, test } from "../../fixture.ts";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

test("rows are swiped to forget and to confirm, with undo", async ({ page, lukasa }) => {
  await lukasa.memories.save("Plays the cello");
  await lukasa.memories.save("Prefers an aisle seat");
  await open(page, "/memory");
  const row = (text: string) =>
    page.getByRole("list", { name: "Memory" }).getByRole("button", { name: text });
  const touch = (x: number) => ({ pointerType: "touch", clientX: x, clientY: 300, bubbles: true });
  const swipe = async (text: string, by: number, release = true) => {
    await row(text).dispatchEvent("pointerdown", touch(200));
    for (const part of [0.3, 0.7, 1]) {
      await row(text).dispatchEvent("pointermove", touch(200 + by * part));
    }
    if (release) await row(text).dispatchEvent("pointerup", touch(200 + by));
  };
  // Too short: nothing happens.
  await swipe("Plays the cello", -40);
  await expect(row("Plays the cello")).toBeVisible();
  await swipe("Plays the cello", -120, false);
  await expect(page.getByText("Forget", { exact: true })).toBeVisible();
  await screens(page, "memory-swipe");
  await page.setViewportSize({ width: 390, height: 844 });
  await row("Plays the cello").dispatchEvent("pointerup", touch(80));
  await expect(row("Plays the cello")).toHaveCount(0);
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(row("Plays the cello")).toBeVisible();

  await swipe("Prefers an aisle seat", 140);
  await expect
    .poll(async () => {
      const all = await lukasa.memories.list().all();
      return all.filter((memory) => memory.last_confirmed_at).map((memory) => memory.content);
    })
    .toContain("Prefers an aisle seat");
});

test("projects are shown on rows and filtered by", async ({ page, lukasa }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await lukasa.memories.save({ content: "Deploys on Fridays", project: "apollo" });
  await lukasa.memories.save({ content: "Uses tabs in Go", project: "gemini" });
  await lukasa.memories.save("Plays the cello");
  await open(page, "/memory");
  const rows = page.getByRole("list", { name: "Memory" }).getByRole("button");
  await expect(rows.filter({ hasText: "Deploys on Fridays" })).toContainText("apollo");
  await page.getByRole("button", { name: "Project", exact: true }).click();
  await page.getByRole("menuitemradio", { name: "apollo" }).click();
  await expect(page).toHaveURL(/project=apollo/);
  await expect(rows.filter({ hasText: "Plays the cello" })).toHaveCount(0);
  await expect(rows.filter({ hasText: "Deploys on Fridays" })).toHaveCount(1);
  await axe(page);
  await screens(page, "memory-project");
  await open(page, "/memory?project=none");
  await expect(rows.filter({ hasText: "Plays the cello" })).toHaveCount(1);
  await expect(rows.filter({ hasText: "Uses tabs in Go" })).toHaveCount(0);
});
