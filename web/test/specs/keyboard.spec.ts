import { axe, expect, open, SOME, screens, seed, test } from "../fixture.ts";

test("shortcuts: G and a letter open a page", async ({ page }) => {
  await open(page, "/memory");
  for (const [letter, name] of [
    ["r", "Review"],
    ["p", "Playground"],
    ["d", "Import & export"],
    ["a", "Activity"],
    ["s", "Profile"],
    ["m", "Memory"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  }
});

test("shortcuts: ? lists the active shortcuts", async ({ page }) => {
  await open(page, "/memory");
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(sheet).toContainText("Go to Review");
  await expect(sheet).toContainText("Undo the latest change");
  await axe(page);
  await screens(page, "shortcuts");
  // While a dialog is open, the page's shortcuts do nothing.
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page).toHaveURL(/\/memory$/);
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
});

test("shortcuts: single keys can be switched off, chords stay", async ({ page }) => {
  await page.addInitScript(() =>
    localStorage.setItem("lukasa.preferences", JSON.stringify({ singleKeys: false })),
  );
  await open(page, "/memory");
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page).toHaveURL(/\/memory$/);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox")).toBeFocused();
});

test("palette opens pages and finds memories, by keyboard alone", async ({ page, lukasa }) => {
  await seed(lukasa, SOME);
  await open(page, "/memory");
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox");
  await expect(input).toBeFocused();
  await axe(page);
  await input.fill("insi");
  await expect(page.getByRole("option", { name: /Insights/ })).toHaveAttribute(
    "aria-selected",
    "true",
  );
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Insights" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await input.fill("peanuts");
  const peanuts = page.getByRole("option", { name: /Never suggest dishes with peanuts/ });
  await expect(peanuts.locator("mark")).toHaveText("peanuts");
  await expect(peanuts).toContainText("Food and dining");
  await expect(page.getByRole("option", { name: "Add “peanuts” as a memory" })).toBeVisible();
  // Memories that do not match are left out.
  await expect(page.getByRole("option")).toHaveCount(2);
  await axe(page);
  await screens(page, "palette");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/memory\/mem_/);
  // The history shows the same text once more.
  await expect(page.getByText("Never suggest dishes with peanuts").first()).toBeVisible();
});

test("palette finds chats by their title, and saves what was not found", async ({
  page,
  lukasa,
}) => {
  await lukasa.sessions.append("trip", [{ role: "user", content: "Where should we stay?" }]);
  await lukasa.sessions.edit("trip", { title: "A weekend in Porto" });
  await open(page, "/memory");
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox");
  await input.fill("porto weekend");
  const chat = page.getByRole("option", { name: "A weekend in Porto" });
  await expect(chat.locator("mark")).toHaveText(["weekend", "Porto"]);
  await input.fill("Is vegetarian");
  await expect(page.getByRole("option")).toHaveText(["Add “Is vegetarian” as a memory"]);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").getByText("Saved")).toBeVisible();
  await expect
    .poll(async () => (await lukasa.memories.list().all()).map((one) => one.domain))
    .toEqual(["food"]);
  await page.keyboard.press("Control+k");
  await input.fill("porto weekend");
  await chat.click();
  await expect(page).toHaveURL(/\/chat\/trip/);
});

test("shortcuts: Z undoes the latest change, also one made elsewhere", async ({ page, lukasa }) => {
  await lukasa.memories.save("Plays the cello");
  await open(page, "/memory");
  await expect(page.getByText("Plays the cello")).toBeVisible();
  await lukasa.memories.forget("cello");
  await expect(page.getByText("Plays the cello")).toHaveCount(0);
  await page.keyboard.press("z");
  await expect(page.getByRole("status").getByText("Undone")).toBeVisible();
  await expect(page.getByRole("list").getByText("Plays the cello")).toBeVisible();
  // F6 moves the focus to the toast.
  await page.keyboard.press("F6");
  await expect(
    page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Close" }),
  ).toBeFocused();
  await screens(page, "toast");
});
