/** What the console says is so: certainty, disputes, counts, dates and reasons. */
import type { HomeView, ReviewItem, ReviewView } from "lukasa-client";
import { say } from "../chat.ts";
import { expect, open, test } from "../fixture.ts";

test("certainty filter finds what the badges say", async ({ page, lukasa }) => {
  const line = JSON.stringify({ item: "memory", source: "1", content: "Keeps bees on the roof" });
  await lukasa.imports.create(line, { name: "notes.jsonl" });
  await lukasa.memories.save("Plays the cello");
  await open(page, "/memory?tier=strong");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list).toContainText("Plays the cello");
  await expect(list).not.toContainText("Keeps bees");
  await page.getByRole("button", { name: "Certainty: certain" }).click();
  await page.getByRole("menuitemradio", { name: "not in use yet" }).click();
  await expect(list).toContainText("Keeps bees");
  await expect(list).not.toContainText("Plays the cello");
});

for (const view of ["list", "board", "timeline"]) {
  test(`disputed memories are marked in the view: ${view}`, async ({ page, lukasa }) => {
    const saved = await Promise.all(
      ["Eats fish twice a week", "Is a vegetarian"].map((text) => lukasa.memories.save(text)),
    );
    const [memory, against] = saved.map((one) => one.memory);
    const answer = { method: "POST", path: "/api/memory", body: {} };
    const item = { kind: "contradiction", memory, against, yes: answer, no: answer } as ReviewItem;
    const disputed = (review: ReviewView): ReviewView => ({
      ...review,
      data: [item],
      counts: { ...review.counts, contradictions: 1 },
    });
    await page.route("**/api/home", async (route) => {
      const home = (await (await route.fetch()).json()) as HomeView;
      await route.fulfill({ json: { ...home, review: disputed(home.review) } });
    });
    await page.route("**/api/review", async (route) => {
      await route.fulfill({ json: disputed((await (await route.fetch()).json()) as ReviewView) });
    });
    await open(page, `/memory?view=${view}`);
    await expect(page.getByText("Is a vegetarian").first()).toBeVisible();
    await expect(page.getByRole("main").getByText("disputed", { exact: true })).toHaveCount(2);
  });
}

test("counts of Review include what is not listed", async ({ page, lukasa }) => {
  for (let at = 0; at < 53; at++) await lukasa.memories.propose(`Owns the book number ${at}`);
  await open(page, "/review");
  await expect(page.getByText("1 of 53", { exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: /^Review/ }).first()).toContainText("53");
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByText("2 of 53", { exact: true })).toBeVisible();
});

test("view of the past shows dates, and not how long ago", async ({ page, lukasa }) => {
  await lukasa.memories.save("Plays the cello");
  await open(page, "/memory");
  const row = page.getByRole("list", { name: "Memory" }).getByRole("listitem").last();
  await expect(row).toContainText(/now|ago/);
  await open(page, `/memory?known_at=${new Date().toISOString()}`);
  await expect(row).toContainText("Plays the cello");
  await expect(row).toContainText(String(new Date().getFullYear()));
  await expect(row).not.toContainText(/now|ago/);
});

test("imported memory that is not in use is left out with that reason", async ({
  page,
  lukasa,
}) => {
  const line = JSON.stringify({ item: "memory", source: "1", content: "Keeps bees on the roof" });
  await lukasa.imports.create(line, { name: "notes.jsonl" });
  await open(page, "/playground?query=Where do I keep my bees on the roof?");
  await expect(page.getByText("imported, not approved by you").first()).toBeVisible();
  await expect(page.getByText("not certain enough")).toHaveCount(0);
});

test("message that needs no search is searched anyway on demand", async ({ page, lukasa }) => {
  await lukasa.memories.save("Prefers window seats on long flights");
  await open(page, "/playground?query=long flights");
  await expect(page.getByText("No search needed for this message")).toBeVisible();
  await page.getByRole("button", { name: "Search anyway" }).click();
  await expect(page).toHaveURL(/anyway=true/);
  await expect(page.getByText("Memory was searched for this message")).toBeVisible();
});

test("guide answers German users in German, and understands them", async ({ page, lukasa }) => {
  await page.addInitScript(() =>
    localStorage.setItem("lukasa.preferences", JSON.stringify({ language: "de" })),
  );
  await page.goto("/chat");
  const field = page.getByRole("textbox", { name: "Nachricht" });
  await field.fill("Xyz");
  await field.press("Enter");
  await expect(page.getByText("Hier antwortet noch kein Modell").first()).toBeVisible();
  await field.fill("Merke dir: Ich segle sonntags");
  await field.press("Enter");
  await expect(page.getByText("Gespeichert: Ich segle sonntags").first()).toBeVisible();
  const saved = await lukasa.memories.list().all();
  expect(saved.map((one) => one.content)).toEqual(["Ich segle sonntags"]);
});

test("guide says what it understands, without a command", async ({ page }) => {
  await open(page, "/chat");
  await say(page, "Hello");
  const answer = page.getByRole("log").getByText("No model is connected yet");
  await expect(answer).toBeVisible();
  await expect(answer).not.toContainText("lukasa serve");
});
