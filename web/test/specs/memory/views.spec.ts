import { axe, expect, open, screens, test } from "../../fixture.ts";
import { live } from "./life.ts";

test("four views of one set, each in the address", async ({ page, lukasa }) => {
  test.setTimeout(120_000);
  await live(lukasa);
  await open(page, "/memory");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list.getByText("Never suggest dishes with peanuts")).toBeVisible();
  await expect(list.getByRole("heading", { name: "Travel" })).toBeVisible();
  // The heading says the area, so the rows below it do not.
  const seat = list.getByRole("button", { name: "window seats" });
  await expect(seat).not.toContainText("Travel");
  await axe(page);
  await screens(page, "memory-list");
  await page.getByRole("button", { name: "Group by" }).click();
  await page.getByRole("menuitemradio", { name: "Category" }).click();
  await page.keyboard.press("Escape");
  await expect(list.getByRole("heading", { name: "About you" })).toBeVisible();
  await expect(seat).toContainText("Travel");
  await page.keyboard.press("v");
  await page.keyboard.press("b");
  await expect(page).toHaveURL(/view=board/);
  await expect(
    page.getByRole("region", { name: "Travel" }).getByText("window seats"),
  ).toBeVisible();
  await axe(page);
  await screens(page, "memory-board");
  await page.keyboard.press("v");
  await page.keyboard.press("t");
  await expect(page.getByRole("heading", { name: "2026" })).toBeVisible();
  await axe(page);
  await screens(page, "memory-timeline");
  await page.keyboard.press("v");
  await page.keyboard.press("m");
  const file = page.getByRole("region", { name: "profile.md" });
  await expect(file).toContainText("^mem-");
  await axe(page);
  await screens(page, "memory-markdown");
  // The file is shown byte for byte as the server has it.
  const shown = await file.locator("pre").evaluate((pre) => pre.textContent);
  const { files } = await lukasa.vault.get();
  const profile = files.find((one) => one.path === "profile.md");
  expect(shown).toBe(`${profile?.content}\n`);
});
