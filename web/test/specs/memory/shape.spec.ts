/** The memory as a board of beads. */
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { Lukasa } from "lukasa-client";
import { axe, BOTH, expect, open, screens, seedMany, test } from "../../fixture.ts";
import { live } from "./life.ts";

const board = (page: Page) => page.getByRole("group", { name: "Memories by area and time" });
const inUse = async (lukasa: Lukasa) =>
  (await lukasa.memories.list().all()).filter((one) => one.status === "active");

test("beads by area and time: keyboard, caption, panel, zoom and table", async ({
  page,
  lukasa,
}) => {
  test.slow();
  await live(lukasa);
  await open(page, "/memory");
  await page.getByRole("button", { name: "Beads" }).click();
  await expect(page).toHaveURL(/view=shape/);
  await expect(board(page)).toBeVisible();
  const current = await inUse(lukasa);
  await expect(
    page.getByText(new RegExp(`^${current.length} memories in \\d+ areas?$`)),
  ).toBeVisible();
  await axe(page, BOTH);
  await screens(page, "shape");
  // One tab stop; arrows move, the caption says what the bead says, Enter opens.
  await expect(board(page).locator("[data-bead][tabindex='0']")).toHaveCount(1);
  await board(page).locator("[data-bead][tabindex='0']").focus();
  const before = await page.locator("[data-bead]:focus").getAttribute("data-bead");
  await page.keyboard.press("ArrowUp");
  await expect(page.locator("[data-bead]:focus")).not.toHaveAttribute("data-bead", before ?? "");
  const single = board(page).locator('[data-bead^="mem_"]').first();
  const label = (await single.getAttribute("aria-label")) ?? "";
  await single.focus();
  const caption = page.getByRole("region", { name: "Selected bead" });
  await expect(caption).toContainText(label.split(". ")[0] ?? "");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("complementary", { name: "Memory" });
  await expect(panel).toContainText(label.split(". ")[0] ?? "");
  await page.getByRole("button", { name: "Close" }).click();
  // Zoom by key and by button.
  await board(page).locator("[data-bead][tabindex='0']").focus();
  await page.keyboard.press("+");
  await expect(page.getByRole("button", { name: "Earlier" })).toBeVisible();
  await page.keyboard.press("0");
  await expect(page.getByRole("button", { name: "Earlier" })).toHaveCount(0);
  await page.getByRole("button", { name: "Zoom in", exact: true }).click();
  await page.getByRole("button", { name: "Show all time" }).click();
  await expect(page.getByRole("button", { name: "Earlier" })).toHaveCount(0);
  // The table lists the memories themselves, and opens them.
  await page.getByRole("button", { name: "As a table" }).click();
  const table = page.getByRole("table", { name: "Memories by area and time" });
  await expect(table).toHaveAttribute("aria-rowcount", String(current.length + 1));
  await expect(table.getByRole("row")).toHaveCount(current.length + 1);
  for (const { content } of current) await expect(table).toContainText(content);
  await axe(page, BOTH);
  await screens(page, "shape-table");
  await table.getByRole("button", { name: label.split(". ")[0] }).click();
  await expect(panel).toContainText(label.split(". ")[0] ?? "");
});

test("beads are zoomed by wheel and drag, and keep their place under the pointer", async ({
  page,
  lukasa,
}) => {
  await seedMany(lukasa, 400);
  await open(page, "/memory?view=shape");
  const box = await board(page).boundingBox();
  if (!box) throw new Error("there is no board");
  const earlier = page.getByRole("button", { name: "Earlier" });
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -600);
  await page.keyboard.up("Control");
  await expect(earlier).toBeVisible();
  await page.getByRole("button", { name: "Show all time" }).click();
  await expect(earlier).toHaveCount(0);
  // Dragging over a stretch shows it, and is not a click on the bead where it ends.
  const all = Number((await page.locator("output").first().innerText()).replace(/\D.*/, ""));
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect(earlier).toBeVisible();
  const shown = Number((await page.locator("output").first().innerText()).replace(/\D.*/, ""));
  expect(shown).toBeLessThan(all / 4);
  await expect(page.getByRole("complementary", { name: "Memory" })).toHaveCount(0);
});

test("slider shows the memory as it was known, with what was changed and forgotten since", async ({
  page,
  lukasa,
}) => {
  const saved = await lukasa.memories.save({ content: "Lives in Berlin", domain: "personal" });
  const gone = await lukasa.memories.save({ content: "Drinks two espressos", domain: "food" });
  const [first, second] = [saved.memory?.id ?? "", gone.memory?.id ?? ""];
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await lukasa.memories.update(first, { content: "Lives in Lisbon" });
  await lukasa.memories.forget(second);
  await lukasa.memories.save({ content: "Learns Portuguese", domain: "work" });
  await open(page, "/memory?view=shape&by=learned");
  await expect(board(page)).toBeVisible();
  const texts = async () =>
    (await board(page).locator("[data-bead]").all()).length === 0
      ? []
      : board(page)
          .locator("[data-bead]")
          .evaluateAll((beads) =>
            beads.map((bead) => bead.getAttribute("aria-label")?.split(". ")[0] ?? ""),
          );
  await expect
    .poll(async () => (await texts()).sort())
    .toEqual(["Learns Portuguese", "Lives in Lisbon"]);
  const slider = page.getByRole("slider", { name: "What Lukasa knew on" });
  await slider.focus();
  await page.keyboard.press("Home");
  await expect(page.getByText(/^0 memories known on/)).toBeVisible();
  await expect.poll(texts).toEqual([]);
  // One step after the two were saved, before the changes.
  await expect(async () => {
    await page.keyboard.press("ArrowRight");
    expect((await texts()).sort()).toEqual(["Drinks two espressos", "Lives in Berlin"]);
  }).toPass();
  // The same as the server says of that day.
  await page.keyboard.press("End");
  await expect
    .poll(async () => (await texts()).sort())
    .toEqual(["Learns Portuguese", "Lives in Lisbon"]);
});

test("playing shows how the memory grew, from nothing to now", async ({ page, lukasa }) => {
  await seedMany(lukasa, 300);
  await open(page, "/memory?view=shape&by=learned");
  const all = (await inUse(lukasa)).length;
  await expect(page.getByText(new RegExp(`^${all} memories in`))).toBeVisible();
  await page.getByRole("button", { name: "Play how the memory grew" }).click();
  await expect(page.getByText(/^\d+ memor(y|ies) known on/)).toBeVisible();
  const slider = page.getByRole("slider", { name: "What Lukasa knew on" });
  await expect(slider).toHaveAttribute("aria-valuetext", "now", { timeout: 20_000 });
  await expect(page.getByText(new RegExp(`^${all} memories in`))).toBeVisible();
});

test("picture is saved as SVG and PNG, without the texts unless asked", async ({
  page,
  lukasa,
}) => {
  await live(lukasa);
  await open(page, "/memory?view=shape");
  await page.getByRole("button", { name: "Save as picture" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("img", { name: "Preview of the picture" })).toBeVisible();
  await expect
    .poll(() => dialog.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBe(1_600);
  await axe(page);
  await screens(page, "shape-save");
  const save = async (format: string) => {
    const began = page.waitForEvent("download");
    await dialog.getByRole("button", { name: `Save as ${format}` }).click();
    const file = await began;
    expect(file.suggestedFilename()).toBe(`memory-beads.${format.toLowerCase()}`);
    return readFile(await file.path());
  };
  const texts = (await inUse(lukasa)).map((one) => one.content);
  const svg = String(await save("SVG"));
  expect(svg).toContain("What my assistant remembers");
  for (const text of texts) expect(svg).not.toContain(text);
  const png = await save("PNG");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.readUInt32BE(16)).toBe(3_200);
  await dialog.getByRole("checkbox", { name: "With the texts of the memories" }).click();
  expect(String(await save("SVG"))).toContain(texts.find((text) => !/[<>&"]/.test(text)) ?? "none");
});
