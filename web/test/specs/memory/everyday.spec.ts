/** The list in everyday use: exceptions, search, order and ranges. */
import { axe, expect, open, screens, test } from "../../fixture.ts";
import { live } from "./life.ts";

const focused = "button[data-memory]:focus";

test("rows show exceptions only", async ({ page, lukasa }) => {
  await lukasa.memories.save("Plays the cello");
  const line = JSON.stringify({ item: "memory", source: "1", content: "Keeps bees on the roof" });
  await lukasa.imports.create(line, { name: "notes.jsonl" });
  await open(page, "/memory");
  const list = page.getByRole("list", { name: "Memory" });
  const bees = list.getByRole("listitem").filter({ hasText: "Keeps bees" });
  const cello = list.getByRole("listitem").filter({ hasText: "cello" });
  await expect(bees).toContainText("not in use yet");
  await expect(
    page.getByText("1 imported memory is not used by your assistants yet"),
  ).toBeVisible();
  // One import waits: its memories are decided on at once.
  await expect(page.getByRole("link", { name: "Decide" })).toHaveAttribute(
    "href",
    /\/reveal\?import=/,
  );
  await expect(cello).toBeVisible();
  await expect(cello).not.toContainText("certain");
  await expect(cello.getByRole("img")).toHaveCount(0);
  // Agreeing to the words is what puts them in use.
  await bees.locator("button[data-memory]").focus();
  await page.keyboard.press("c");
  await expect(bees).not.toContainText("not in use yet");
  await expect(page.getByText("is not used by your assistants yet")).toHaveCount(0);
});

test("search marks the words, and offers to save what was not found", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/memory");
  await expect(page.locator("button[data-memory]").first()).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("charite nurse");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list.locator("mark")).toHaveText(["nurse", "Charité"]);
  await axe(page);
  await screens(page, "memory-search");
  const box = page.getByRole("textbox", { name: "Filter memories" });
  await box.fill("Plays the theremin");
  await expect(
    page.getByRole("heading", { name: "No matches for “Plays the theremin”" }),
  ).toBeVisible();
  await expect(page.getByRole("button", { name: "Search by meaning" })).toBeVisible();
  await screens(page, "memory-not-found");
  await page.getByRole("button", { name: "Save “Plays the theremin”" }).click();
  await expect(list).toContainText("Plays the theremin");
  await expect(box).toHaveValue("");
  expect((await lukasa.memories.list({ search: "theremin" }).all()).length).toBe(1);
});

test("weak matches of a search by meaning are shown on demand", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/memory?text=nurse+shifts&how=meaning");
  await expect(page.getByText(/^\d+ good match/)).toBeVisible();
  const rows = page.getByRole("list", { name: "Found by meaning" }).locator("button[data-memory]");
  await expect(rows.first()).toContainText("matches “");
  for (const text of await rows.allInnerTexts()) expect(text.toLowerCase()).toMatch(/nurse|shift/);
});

test("composer finds the area while typing, and shows what is saved already", async ({
  page,
  lukasa,
}) => {
  await lukasa.memories.save("Never eats peanuts at breakfast");
  await open(page, "/memory");
  await page.getByRole("button", { name: "Add a memory" }).click();
  await page.keyboard.type("Is vegetarian");
  const composer = page.locator("form", { hasText: "Area: Food and dining" });
  await expect(composer).toBeVisible();
  await axe(page);
  await page.keyboard.press("Enter");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list).toContainText("Is vegetarian");
  await expect(list.getByRole("heading", { name: "Food and dining" })).toBeVisible();
  await page.keyboard.press("n");
  await page.keyboard.type("never eats peanuts");
  await expect(page.getByText("Already saved:")).toBeVisible();
  const kinds = page.getByRole("group", { name: "What this is" });
  await expect(kinds.getByRole("button", { name: "Rule" })).toHaveAttribute("aria-pressed", "true");
  await kinds.getByRole("button", { name: "Fact" }).click();
  await page.getByRole("button", { name: "Area: Food and dining" }).last().click();
  await page.getByRole("menuitemradio", { name: "No area" }).click();
  await page
    .getByRole("textbox", { name: "A memory to save" })
    .fill("Never eats vegetarian sausages");
  await page.keyboard.press("Enter");
  await expect
    .poll(async () => (await lukasa.memories.list({ search: "sausages" }).all())[0]?.domain ?? null)
    .toBeNull();
});

test("many suggestions are answered in Review, and only a few are shown here", async ({
  page,
  lukasa,
}) => {
  for (let at = 0; at < 24; at++)
    await lukasa.memories.propose(`Collects stamps of the year ${1900 + at}`);
  await lukasa.memories.save("Plays the cello");
  await open(page, "/memory");
  const suggestions = page.getByRole("region", { name: "Suggestions" });
  await expect(suggestions.getByRole("listitem")).toHaveCount(3);
  await suggestions.getByRole("link", { name: "Review 21 more" }).click();
  await expect(page).toHaveURL(/review\?kind=proposal&view=list/);
  await expect(page.getByRole("button", { name: "Select all 24" })).toBeVisible();
  await page.getByRole("button", { name: "Cards", exact: true }).click();
  await expect(page.getByText("1 of 24", { exact: true })).toBeVisible();
});

test("order of the list is chosen and in the address", async ({ page, lukasa }) => {
  await lukasa.memories.save("Zigzag patterns are fun to knit");
  await lukasa.memories.save("Apple pie every Sunday");
  await open(page, "/memory");
  const rows = page.locator("button[data-memory]");
  await expect(rows.first()).toContainText("Apple");
  await page.getByRole("button", { name: /^Sort/ }).click();
  await page.getByRole("menuitemradio", { name: "oldest first" }).click();
  await expect(page).toHaveURL(/sort=oldest/);
  await expect(rows.first()).toContainText("Zigzag");
});

test("most used memories come first, with their number of uses", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save("Plays the cello");
  const bees = await lukasa.memories.save("Keeps bees on the roof");
  const used = [saved.memory?.id ?? ""];
  for (const number of [1, 2]) {
    await lukasa.sessions.append(`chat-${number}`, [
      { role: "user", content: "What do I play?" },
      { role: "assistant", content: "The cello.", used },
    ]);
  }
  // That an answer was wrong about it is not a use of it.
  const answer = (await lukasa.sessions.turns("chat-1").all()).at(-1);
  await lukasa.memories.reportUsage({
    memory_id: bees.memory?.id ?? "",
    type: "conflicted",
    turn_id: answer?.id,
  });
  await open(page, "/memory?sort=used");
  const rows = page.locator("button[data-memory]");
  await expect(rows.first()).toContainText("Plays the cello");
  await expect(rows.first()).toContainText("2 recent uses");
  await expect(rows.nth(1)).toContainText("not used recently");
});

test("ranges: Shift and a click or an arrow select all rows between", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/memory");
  const rows = page.locator("button[data-memory]");
  await expect(rows.nth(4)).toBeVisible();
  await rows.nth(1).click({ modifiers: ["ControlOrMeta"] });
  await rows.nth(4).click({ modifiers: ["Shift"] });
  const bar = page.getByRole("region", { name: "Selected memories" });
  await expect(bar).toContainText("4 selected");
  await screens(page, "memory-range");
  await page.keyboard.press("Escape");
  await expect(bar).toHaveCount(0);
  await rows.nth(0).focus();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await expect(bar).toContainText("3 selected");
  await expect(page.locator(focused)).toHaveCount(1);
  await bar.getByRole("button", { name: /^Select all/ }).click();
  const all = (await lukasa.memories.list().all()).length;
  await expect(bar).toContainText(`${all} selected`);
});

test("detail says how often a memory was used", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save("Plays the cello");
  await open(page, `/memory/${saved.memory?.id}`);
  await expect(page.locator("dl")).toContainText("Usednot recently");
});

test.describe("phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("filters are folded, and the first memory is high on the page", async ({ page, lukasa }) => {
    await live(lukasa);
    await open(page, "/memory");
    const first = page.locator("button[data-memory]").first();
    await expect(page.getByRole("button", { name: /^Area/ })).toBeHidden();
    await page.getByRole("button", { name: "Filters" }).click();
    const sheet = page.getByRole("dialog", { name: "Filters" });
    await sheet.getByRole("button", { name: "Certainty" }).click();
    await page.getByRole("menuitemradio", { name: "likely" }).click();
    await expect(page).toHaveURL(/tier=tentative/);
    await axe(page);
    await screens(page, "memory-filters");
    await sheet.getByRole("button", { name: "Clear the filter" }).click();
    await expect(page).not.toHaveURL(/tier=/);
    await sheet.getByRole("button", { name: /^Show \d+ memories/ }).click();
    await expect(sheet).toHaveCount(0);
    await expect(first).toBeVisible();
  });

  test("memory opens in a sheet, is corrected there, and closes", async ({ page, lukasa }) => {
    await lukasa.memories.save("Plays the cello");
    await open(page, "/memory");
    await page.getByRole("button", { name: /Plays the cello/ }).tap();
    const sheet = page.getByRole("dialog");
    await expect(sheet.getByRole("heading", { name: "Plays the cello" })).toBeVisible();
    await axe(page);
    await sheet.getByRole("button", { name: "Correct" }).tap();
    await sheet.getByRole("textbox", { name: "What it says" }).fill("Plays the viola");
    await axe(page);
    await sheet.getByRole("button", { name: "Save" }).tap();
    await expect(sheet.getByRole("region", { name: "History" }).locator("ins")).toHaveText("viola");
    // The message covers neither the sheet nor its buttons.
    const message = page.getByRole("status").getByText("Changed");
    const [toast, popup] = await Promise.all([message.boundingBox(), sheet.boundingBox()]);
    expect((toast?.y ?? 0) + (toast?.height ?? 0)).toBeLessThanOrEqual(popup?.y ?? 0);
    await sheet.getByRole("button", { name: "Close" }).tap();
    await expect(sheet).toHaveCount(0);
    await expect(page).not.toHaveURL(/one=/);
    await page.getByRole("button", { name: /Plays the viola/ }).tap();
    await expect(sheet).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(sheet).toHaveCount(0);
  });

  test("header yields while the list is scrolled down, and messages do not cover the back link", async ({
    page,
    lukasa,
  }) => {
    for (let at = 0; at < 24; at++) await lukasa.memories.save(`Collects stamps of series ${at}`);
    const saved = await lukasa.memories.save("Plays the cello");
    await open(page, "/memory");
    await expect(page.locator("button[data-memory]").first()).toBeVisible();
    const heading = page.getByRole("heading", { level: 1 });
    await expect(heading).toBeVisible();
    const list = page.getByRole("list", { name: "Memory" });
    const scroll = async (by: number) => {
      await list.hover();
      await page.mouse.wheel(0, by);
    };
    await scroll(300);
    await expect(heading).toBeHidden();
    await scroll(-100);
    await expect(heading).toBeVisible();

    await open(page, `/memory/${saved.memory?.id}`);
    await page.getByRole("button", { name: "Confirm" }).tap();
    const message = page.getByRole("status").getByText("Confirmed");
    await expect(message).toBeVisible();
    const back = await page.getByRole("link", { name: "All memories" }).boundingBox();
    const toast = await message.boundingBox();
    expect(toast?.y ?? 0).toBeGreaterThan((back?.y ?? 0) + (back?.height ?? 0));
  });
});
