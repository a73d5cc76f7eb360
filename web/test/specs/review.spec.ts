import type { Page } from "@playwright/test";
import type { Lukasa, ReviewView } from "lukasa-client";
import { axe, expect, open, screens, test } from "../fixture.ts";
import { live, refuted } from "../life.ts";

// The tests first let the server learn from real chats, which takes time.
test.describe.configure({ timeout: 120_000 });

/** Seeds nine cards, at least one of every kind. */
async function seedCards(lukasa: Lukasa): Promise<void> {
  await live(lukasa);
  await lukasa.memories.propose({
    content: "Prefers an aisle seat on short flights",
    domain: "travel",
    evidence: [{ type: "pattern", description: "chose the aisle on the last four bookings" }],
    reasoning: "It would save asking every time.",
  });
  await refuted(lukasa, "Banks with Fidelity");
}

const card = (page: Page) => page.getByRole("main").getByRole("region").first();

test("review buttons and filters stay in their place from card to card", async ({
  page,
  lukasa,
}) => {
  await lukasa.memories.propose("Prefers an aisle seat");
  await lukasa.memories.propose({
    content: `Packs for every journey: ${"a very long list, ".repeat(20)}`,
    reasoning: "It would save asking every time. ".repeat(12),
  });
  await refuted(lukasa, "Banks with Fidelity");
  await open(page, "/review");
  const skip = page.getByRole("main").getByRole("button", { name: "Skip" });
  const filters = page.getByRole("group", { name: "Which cards" });
  await expect(filters).toBeVisible();
  const placeOf = async () => ({ skip: (await skip.boundingBox())?.y, card: await boxOf(page) });
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    const first = await placeOf();
    expect((first.skip ?? 0) + 40).toBeLessThan(height);
    await page.keyboard.press("ArrowDown");
    await expect(page.getByText("2 of 3", { exact: true })).toBeVisible();
    expect(await placeOf()).toEqual(first);
    await page.keyboard.press("ArrowDown");
    await expect(page.getByText("3 of 3", { exact: true })).toBeVisible();
    expect(await placeOf()).toEqual(first);
    // The suggestions are answered, and their filter is still there.
    await expect(filters.getByRole("button", { name: "Suggestions" })).toContainText("0");
    await axe(page);
    await page.keyboard.press("z");
    await page.keyboard.press("z");
    await expect(page.getByText("1 of 3", { exact: true })).toBeVisible();
  }
});

/** The place and the size of the card, once it has moved in. */
async function boxOf(page: Page) {
  await card(page).evaluate((one) =>
    Promise.all(one.getAnimations().map(({ finished }) => finished)),
  );
  return card(page).boundingBox();
}

test("review deck by keyboard alone", async ({ page, lukasa }) => {
  await seedCards(lukasa);
  await open(page, "/review");
  const announced = page.locator("main output").last();
  await expect(page.getByText("1 of 9", { exact: true })).toBeVisible();
  await expect(announced).toContainText("1 of 9. May I remember this? Prefers an aisle seat");
  await axe(page);
  await screens(page, "review-proposal");

  await page.keyboard.press("ArrowRight");
  await expect(announced).toContainText("Kept. 2 of 9. Which of the two is true?");
  await expect(card(page)).toContainText("Is vegetarian.");
  await expect(card(page)).toContainText("You said, 12 Mar 2026, in ‘Tax question’");
  await axe(page);
  await screens(page, "review-contradiction");

  await page.keyboard.press("2");
  await expect(announced).toContainText(
    "Corrected. 3 of 9. An answer based on this was wrong. Is it still true? Banks with Fidelity",
  );
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "What is true?" })).toBeFocused();
  await axe(page);
  await screens(page, "review-edit");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Banks with Vanguard");
  await page.keyboard.press("Enter");

  await expect(announced).toContainText(
    "Corrected. 4 of 9. A guess. Is it true? Might take up rowing.",
  );
  await page.keyboard.press("ArrowLeft");
  await expect(announced).toContainText("Forgotten. 5 of 9. Learned from a chat");
  // Undo returns the card that was just answered, and it is answered once more.
  await page.keyboard.press("z");
  await expect(announced).toContainText("Undone. 4 of 9. A guess. Is it true?");
  expect((await lukasa.review.list()).map((item) => item.kind)).toContain("candidate");
  await page.keyboard.press("ArrowLeft");
  await expect(announced).toContainText("Forgotten. 5 of 9");
  await screens(page, "review-learned");
  await page.keyboard.press("ArrowRight");
  await expect(announced).toContainText("Kept. 6 of 9");
  await page.keyboard.press("ArrowDown");
  await expect(announced).toContainText("Skipped. 7 of 9");
  await page.keyboard.press("ArrowRight");
  await expect(announced).toContainText("Kept. 8 of 9");
  await page.keyboard.press("ArrowRight");

  await expect(announced).toContainText("Kept. 9 of 9. You mentioned: Health");
  await axe(page);
  await screens(page, "review-consent");
  const health = page.getByRole("switch", { name: /^Health/ });
  // Undo takes back the latest change alone, also while it is under way: the answers before it stay.
  await page.route(/\/api\/domains\/health/, (route) => setTimeout(() => route.continue(), 500), {
    times: 1,
  });
  await page.keyboard.press("1");
  await expect(health).toBeChecked();
  await page.keyboard.press("z");
  await expect(health).not.toBeChecked();
  await expect(announced).toContainText("Kept. 9 of 9. You mentioned: Health");
  await page.keyboard.press("1");
  await expect(health).toBeChecked();
  await expect
    .poll(
      async () => (await lukasa.domains.list()).find((one) => one.name === "health")?.opted_in_at,
    )
    .toBeTruthy();
  await page.keyboard.press("ArrowDown");
  // What was said while the area was off is learned now, and asks first.
  await expect(announced).toContainText("10 of 10. May I remember this? Was diagnosed", {
    timeout: 20_000,
  });
  await page.keyboard.press("ArrowLeft");

  const end = page.getByRole("heading", { name: "All caught up" });
  await expect(end).toBeFocused();
  await expect(
    page.getByText("4 kept, 2 forgotten, 2 corrected, 1 area turned on, 1 skipped"),
  ).toBeVisible();
  await axe(page);
  await screens(page, "review-summary");
  const known = (await lukasa.memories.list({}).all()).map((one) => one.content);
  expect(known).toContain("Banks with Vanguard");
  expect(known).toContain("User is vegetarian.");
  expect(known).toContain("Prefers an aisle seat on short flights");
  expect(known).not.toContain("User eats fish twice a week");
  expect(known).not.toContain("User might take up rowing.");
  // Only the skipped cards are shown again.
  await page.keyboard.press("r");
  await expect(page.getByRole("button", { name: "Skip" })).toBeVisible();
});

test("contradiction that is a change keeps both memories, one after the other", async ({
  page,
  lukasa,
}) => {
  await live(lukasa);
  const states = async () => {
    const all = await lukasa.memories.list({ status: "all" }).all();
    const of = (words: string) => {
      const one = all.find((memory) => memory.content.includes(words));
      return [one?.status, one?.valid_from.slice(0, 10), one?.valid_until?.slice(0, 10)];
    };
    return { fish: of("eats fish"), vegetarian: of("is vegetarian") };
  };
  const before = await states();
  await open(page, "/review?kind=contradiction");
  await expect(card(page)).toContainText("Is vegetarian.");
  await page.keyboard.press("4");
  const day = page.getByLabel("Day of the change");
  await expect(day).toHaveValue("2026-03-12");
  await axe(page);
  await screens(page, "review-changed");
  await day.fill("2026-02-01");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").getByText("Changed on 1 Feb 2026")).toBeVisible();
  await expect.poll(states).toEqual({
    fish: ["expired", "2026-01-31", "2026-02-01"],
    vegetarian: ["active", "2026-02-01", undefined],
  });
  // Three writes, and one undo for all of them.
  await page.keyboard.press("z");
  await expect.poll(states).toEqual(before);
  await expect(card(page)).toContainText("Is vegetarian.");
});

test("change on a day that is refused leaves both memories and the card as they were", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/409/);
  await live(lukasa);
  const states = async () =>
    (await lukasa.memories.list({ status: "all" }).all())
      .map((memory) => [memory.id, memory.status, memory.valid_from, memory.valid_until])
      .sort();
  const before = await states();
  const item = (await lukasa.review.list()).find((one) => one.kind === "contradiction");
  // The last of the three writes is refused.
  let written = 0;
  await page.route(`**/api/memory/${item?.against?.id}`, async (route) => {
    if (route.request().method() !== "PATCH") return route.continue();
    written = (await lukasa.operations.list({ limit: 200 }).all()).length;
    return route.fulfill({
      status: 409,
      contentType: "application/problem+json",
      json: { code: "version_mismatch", title: "The memory has changed", status: 409, detail: "" },
    });
  });
  const operations = (await lukasa.operations.list({ limit: 200 }).all()).length;
  await open(page, "/review?kind=contradiction");
  await expect(card(page)).toContainText("Is vegetarian.");
  await page.keyboard.press("4");
  await page.getByLabel("Day of the change").fill("2026-02-01");
  await page.keyboard.press("Enter");
  const messages = page.getByRole("region", { name: "Messages" });
  await expect(messages).toContainText("This memory has changed since");
  await expect(messages).not.toContainText("Changed on");
  expect(written).toBe(operations + 2);
  await expect.poll(states).toEqual(before);
  await expect(card(page)).toContainText("Is vegetarian.");
  await expect(page.locator("main output").last()).toContainText(/^1 of 1\. Which of the two/);
  // The card can be answered again.
  await page.unroute(`**/api/memory/${item?.against?.id}`);
  await page.keyboard.press("4");
  await page.getByLabel("Day of the change").fill("2026-02-01");
  await page.keyboard.press("Enter");
  await expect(messages).toContainText("Changed on 1 Feb 2026");
});

test("day of a change is not kept for the next contradiction", async ({
  page,
  lukasa,
  allowed,
}) => {
  await live(lukasa);
  // Without the answer for the first screen, the review is read by itself.
  allowed.push(/404/);
  await page.route("**/api/home", (route) => route.fulfill({ status: 404, body: "" }));
  // A second contradiction, about other memories.
  await page.route("**/api/review*", async (route) => {
    const response = await route.fetch();
    const view = (await response.json()) as ReviewView;
    const found = view.data.find((one) => one.kind === "contradiction");
    if (!found?.against) return route.fulfill({ response });
    const second = {
      ...found,
      memory: { ...found.memory, id: `${found.memory.id.slice(0, -1)}0` },
      against: { ...found.against, valid_from: "2025-05-05T00:00:00Z" },
    };
    return route.fulfill({ response, json: { ...view, data: [...view.data, second] } });
  });
  await open(page, "/review?kind=contradiction");
  const announced = page.locator("main output").last();
  await expect(announced).toContainText("1 of 2");
  await page.keyboard.press("4");
  const day = page.getByLabel("Day of the change");
  await day.fill("2026-02-01");
  await page.keyboard.press("Escape");
  await expect(day).toHaveCount(0);
  await page.keyboard.press("ArrowDown");
  await expect(announced).toContainText("2 of 2");
  await page.keyboard.press("4");
  await expect(day).toHaveValue("2025-05-05");
});

test("card answered again during a pending undo stays answered", async ({ page, lukasa }) => {
  await seedCards(lukasa);
  await open(page, "/review?kind=learned");
  const announced = page.locator("main output").last();
  await expect(announced).toContainText("1 of 4");
  await page.keyboard.press("ArrowLeft");
  await expect(announced).toContainText("Forgotten. 2 of 4");
  // The live event of the undo arrives at once, its HTTP response late.
  let answer = () => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/api/operations/*/undo", async (route) => {
    const response = await route.fetch();
    await late;
    await route.fulfill({ response });
  });
  await page.keyboard.press("z");
  await expect(announced).toContainText("Undone. 1 of 4");
  await page.keyboard.press("ArrowLeft");
  await expect(announced).toContainText("Forgotten. 2 of 4");
  answer();
  await expect(page.getByRole("status").getByText("Undone")).toBeVisible();
  await expect(announced).toContainText("Forgotten. 2 of 4");
  await page.keyboard.press("ArrowRight");
  await expect(announced).toContainText("Kept. 3 of 4");
});

test("next steps of an empty review have room for their text on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, "/review");
  const step = page.getByRole("region", { name: "Next steps" }).getByRole("listitem").last();
  const button = step.getByRole("link", { name: "Sensitive areas" });
  const [row, text, action] = await Promise.all(
    [step, step.getByText(/^Decide what may be remembered/), button].map((one) =>
      one.boundingBox(),
    ),
  );
  expect(text?.width ?? 0).toBeGreaterThan(0.8 * (row?.width ?? 390));
  expect(action?.y ?? 0).toBeGreaterThanOrEqual((text?.y ?? 844) + (text?.height ?? 0));
  await screens(page, "review-empty-phone");
});

test("review deck by pointer on a phone", async ({ page, lukasa }) => {
  await seedCards(lukasa);
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, "/review");
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("2 of 9", { exact: true })).toBeVisible();
  await card(page).getByRole("button", { name: "This is true" }).first().click();
  await expect(page.getByText("3 of 9", { exact: true })).toBeVisible();
  // One toast at a time, and none over the buttons.
  const undo = page.getByRole("status").getByRole("button", { name: "Undo" });
  await expect(undo).toHaveCount(1);
  const last = await main.getByRole("button", { name: "Edit" }).boundingBox();
  expect((await undo.boundingBox())?.y ?? 0).toBeGreaterThan(
    (last?.y ?? 844) + (last?.height ?? 0),
  );
  await main.getByRole("button", { name: "Edit" }).click();
  await main.getByRole("textbox").fill("Banks with Schwab");
  await main.getByRole("button", { name: "Keep this" }).click();
  await expect(page.getByText("4 of 9", { exact: true })).toBeVisible();
  await main.getByRole("button", { name: /^(?:Forget|Wrong|Decline|No longer true)$/ }).click();
  for (const at of [6, 7, 8, 9]) {
    await main.getByRole("button", { name: "Skip" }).click();
    await expect(page.getByText(`${at} of 9`, { exact: true })).toBeVisible();
  }
  await main.getByRole("button", { name: "No, keep it off" }).click();
  await expect(main.getByText(/^2 kept, 1 forgotten, 1 corrected/)).toBeVisible();
  // Each is undone from the summary as well, and returns to the deck.
  await main.getByRole("listitem").filter({ hasText: "rowing" }).getByRole("button").click();
  await expect(card(page)).toContainText("Might take up rowing.");
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  // After "No, keep it off" the card is gone, but its address still works.
  await page.reload();
  await expect(page.getByRole("button", { name: "Skip" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Sensitive areas/ })).toHaveCount(0);
  await open(page, "/review?kind=consent");
  await expect(page.getByRole("switch")).toHaveCount(4);
});

test("cards are swiped by touch", async ({ page, lukasa }) => {
  await lukasa.memories.propose("Prefers an aisle seat");
  await lukasa.memories.propose("Plays the cello");
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, "/review");
  const swipe = async (by: number) => {
    const touch = (x: number) => ({
      pointerType: "touch",
      clientX: x,
      clientY: 300,
      bubbles: true,
    });
    await card(page).dispatchEvent("pointerdown", touch(200));
    for (const part of [0.3, 0.7, 1]) {
      await card(page).dispatchEvent("pointermove", touch(200 + by * part));
    }
    await card(page).dispatchEvent("pointerup", touch(200 + by));
  };
  await expect(card(page)).toContainText("Plays the cello");
  await swipe(40);
  await expect(card(page)).toContainText("Plays the cello");
  await swipe(140);
  await expect(card(page)).toContainText("Prefers an aisle seat");
  await swipe(-140);
  await expect(page.getByText("1 kept, 1 forgotten")).toBeVisible();
  expect((await lukasa.memories.list({}).all()).map((one) => one.content)).toEqual([
    "Plays the cello",
  ]);
});

test("refused answer returns the card to the deck", async ({ page, lukasa, allowed }) => {
  await lukasa.memories.propose("Prefers an aisle seat");
  await open(page, "/review");
  const problem = { code: "busy", title: "Too much at once", status: 500, detail: "", type: "" };
  allowed.push(/500/);
  await page.route("**/confirm", (route) =>
    route.fulfill({
      status: 500,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    }),
  );
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status").getByText("Something went wrong")).toBeVisible();
  await expect(card(page)).toContainText("Prefers an aisle seat");
});

test("deck follows answers and proposals made through the API", async ({ page, lukasa }) => {
  const proposed = await lukasa.memories.propose("Prefers an aisle seat");
  await open(page, "/review");
  await expect(card(page)).toContainText("Prefers an aisle seat");
  const { id = "", sha256 } = proposed.memory ?? {};
  await lukasa.memories.confirm(id, { sha256 });
  await expect(page.getByRole("heading", { name: "Nothing to review" })).toBeVisible();
  await axe(page);
  await screens(page, "review-empty");
  await lukasa.memories.propose("Plays the cello");
  await expect(card(page)).toContainText("Plays the cello");
});
