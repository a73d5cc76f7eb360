/** The memory as a board of beads. */
import { axe, BOTH, expect, open, screens, seedMany, test } from "../../fixture.ts";
import { live } from "./life.ts";

test("beads by area and time: keyboard, panel, zoom and table", async ({ page, lukasa }) => {
  test.slow();
  await live(lukasa);
  await open(page, "/memory");
  await page.getByRole("button", { name: "Beads" }).click();
  await expect(page).toHaveURL(/view=shape/);
  const board = page.getByRole("group", { name: "Memories by area and time" });
  await expect(board).toBeVisible();
  const current = (await lukasa.memories.list().all()).filter((one) => one.status === "active");
  await expect(page.getByText(`${current.length} of ${current.length} shown`)).toBeVisible();
  await axe(page, BOTH);
  await screens(page, "shape");
  // One tab stop; arrows move, Enter opens.
  await expect(board.locator("[data-bead][tabindex='0']")).toHaveCount(1);
  await board.locator("[data-bead][tabindex='0']").focus();
  const before = await page.locator("[data-bead]:focus").getAttribute("data-bead");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("[data-bead]:focus")).not.toHaveAttribute("data-bead", before ?? "");
  const single = board.locator('[data-bead^="mem_"]').first();
  const label = (await single.getAttribute("aria-label")) ?? "";
  await single.focus();
  await page.keyboard.press("Enter");
  const panel = page.getByRole("complementary", { name: "Memory" });
  await expect(panel).toContainText(label.split(". ")[0] ?? "");
  await page.getByRole("button", { name: "Close" }).click();
  // Zoom by key and by button.
  await board.locator("[data-bead][tabindex='0']").focus();
  await page.keyboard.press("+");
  await expect(page.getByRole("button", { name: "Earlier" })).toBeVisible();
  await page.getByRole("button", { name: "Show all time" }).click();
  await expect(page.getByRole("button", { name: "Earlier" })).toHaveCount(0);
  await page.getByRole("button", { name: "As a table" }).click();
  await expect(page.getByRole("columnheader", { name: "Travel" })).toBeVisible();
  const numbers = await page.getByRole("cell").allInnerTexts();
  const sum = numbers.filter((one) => /^\d+$/.test(one)).reduce((all, one) => all + Number(one), 0);
  expect(sum).toBe(current.length);
  await axe(page);
});

test("time scrubber shows the memory as it was, and plays how it grew", async ({
  page,
  lukasa,
}) => {
  await seedMany(lukasa, 300);
  await open(page, "/memory?view=shape");
  const shown = page.locator("output", { hasText: "shown" });
  const all = (await shown.innerText()).split(" of ")[1] ?? "";
  await expect(shown).toContainText(`${Number.parseInt(all, 10)} of`);
  const slider = page.getByRole("slider", { name: "Up to" });
  await slider.focus();
  await page.keyboard.press("Home");
  await expect(shown).toContainText("0 of");
  await page.getByRole("button", { name: "Play how the memory grew" }).click();
  await expect(slider).toHaveAttribute("aria-valuetext", "now", { timeout: 15_000 });
  await expect(shown).toContainText(`${Number.parseInt(all, 10)} of`);
});
