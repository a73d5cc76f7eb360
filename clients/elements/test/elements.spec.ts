import { mkdirSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { type Host, host, LUKASA, lukasaFor, userThemselves } from "./host.ts";

const test = base.extend<{ user: string; visit: (body: string, script?: string) => Promise<Host> }>(
  {
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    user: async ({}, use) => use(`panel-${Date.now().toString(36)}`),
    visit: async ({ page, user }, use) => {
      const wrong: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") wrong.push(message.text());
      });
      page.on("pageerror", (error) => wrong.push(error.message));
      let opened: Host | undefined;
      await use(async (body, script = "") => {
        opened = await host(user, body, script);
        await page.goto(opened.url);
        return opened;
      });
      opened?.close();
      // Some tests provoke refusals; violations of the content security policy always fail.
      expect(wrong.filter((one) => !/status of 4(0[13]|22)/.test(one))).toEqual([]);
    },
  },
);

async function axe(page: Page): Promise<void> {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await new AxeBuilder({ page }).withTags(tags).setLegacyMode(true).analyze();
  expect(found.violations.map((one) => `${one.id}: ${one.help}`)).toEqual([]);
}

async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.LUKASA_SCREENS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const PANEL = "<lukasa-memory-panel></lukasa-memory-panel>";
/** Records the events of the elements. */
const RECORD_EVENTS = `for (const what of ["saved", "undone", "forgotten", "confirmed"]) {
  addEventListener("lukasa-" + what, ({ detail }) =>
    (window.recorded ??= []).push([what, detail.memory?.content, typeof detail.operation]));
}`;
const recordedEvents = (page: Page) => page.evaluate("window.recorded ?? []") as Promise<unknown[]>;

test("panel lists, adds, edits, forgets and undoes on another origin", async ({
  page,
  user,
  visit,
}) => {
  const lukasa = await userThemselves(user);
  await lukasa.memories.save("Prefers window seats on long flights");
  await lukasa.memories.save({
    content: "Never suggest dishes with peanuts",
    force: "hard",
    domain: "food",
    key: "diet.peanuts",
    value: "never",
  });
  const { minted } = await visit(PANEL, RECORD_EVENTS);
  await expect(page.getByText("Prefers window seats")).toBeVisible();
  await axe(page);
  await screenshot(page, "panel");
  await page.getByRole("tab", { name: "Context" }).focus();
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByText("Never suggest dishes with peanuts")).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.getByLabel("Remember something").fill("Has a sister called Ana");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("listitem").getByText("Has a sister called Ana")).toBeVisible();
  await expect(page.getByRole("status")).toContainText("Memory saved");
  await page.getByRole("button", { name: "Edit: Has a sister called Ana" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("Has a sister called Ana in Porto");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("status")).toContainText("Memory changed");
  await page.getByRole("button", { name: /^Forget: Prefers/ }).click();
  await expect(page.getByRole("status")).toContainText("Forgotten");
  await expect(page.getByRole("listitem")).toHaveCount(1);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("listitem")).toHaveCount(2);
  await expect(page.getByRole("status")).toContainText("Undone");
  const all = (await lukasa.memories.list().all()).map((one) => one.content).sort();
  expect(all).toEqual([
    "Has a sister called Ana in Porto",
    "Never suggest dishes with peanuts",
    "Prefers window seats on long flights",
  ]);
  expect((await recordedEvents(page)).map((one) => (one as string[])[0])).toEqual([
    "saved",
    "saved",
    "forgotten",
    "undone",
  ]);
  expect(minted()).toBe(1);
});

test("panel shows changes made through the API", async ({ page, user, visit }) => {
  await visit(PANEL);
  await expect(page.getByText("Nothing yet")).toBeVisible();
  await lukasaFor(user).memories.save("Plays the cello");
  await expect(page.getByText("Plays the cello")).toBeVisible();
});

test("proposal card is answered with edited text", async ({ page, user, visit }) => {
  const lukasa = lukasaFor(user);
  const proposed = { content: "Prefers trains to planes", reasoning: "Asked for trains twice" };
  await lukasa.memories.propose(proposed);
  await lukasa.memories.propose("Dislikes mornings");
  await visit(PANEL, RECORD_EVENTS);
  const cards = page.getByRole("article", { name: "May I remember this?" });
  await expect(cards).toHaveCount(2);
  await expect(cards.filter({ hasText: "trains" })).toContainText("Asked for trains twice");
  await axe(page);
  await screenshot(page, "panel-proposals");
  await cards.filter({ hasText: "trains" }).getByRole("button", { name: "Edit" }).click();
  await cards.getByRole("textbox").fill("Prefers night trains to planes");
  await cards.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("listitem").getByText("Prefers night trains")).toBeVisible();
  await cards.filter({ hasText: "mornings" }).getByRole("button", { name: "No" }).click();
  await expect(cards).toHaveCount(0);
  const saved = await lukasa.memories.list().all();
  expect(saved.map((one) => one.content)).toEqual(["Prefers night trains to planes"]);
  expect(saved[0]?.consented_at).toBeTruthy();
  expect(await recordedEvents(page)).toHaveLength(2);
});

test("proposal answer can be undone, and the focus moves on", async ({ page, user, visit }) => {
  const lukasa = lukasaFor(user);
  await lukasa.memories.propose("Prefers trains to planes");
  await lukasa.memories.propose("Dislikes mornings");
  await visit(PANEL);
  const cards = page.getByRole("article", { name: "May I remember this?" });
  await cards.filter({ hasText: "mornings" }).getByRole("button", { name: "No" }).focus();
  await page.keyboard.press("Enter");
  await expect(cards).toHaveCount(1);
  await expect(page.getByRole("status")).toContainText("Not remembered");
  await expect(cards.getByRole("button", { name: "Yes, remember" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(cards).toHaveCount(0);
  await expect(page.getByRole("status")).toContainText("Confirmed");
  await expect(page.getByLabel("Remember something")).toBeFocused();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(cards).toHaveCount(1);
  expect(await lukasa.memories.list().all()).toEqual([]);
});

test("refused write shows the error of the server and keeps the list", async ({
  page,
  user,
  visit,
}) => {
  await lukasaFor(user).memories.save("Plays the cello");
  await visit(PANEL);
  await expect(page.getByText("Plays the cello")).toBeVisible();
  const box = page.getByLabel("Remember something");
  await box.fill("long ".repeat(500));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("at most 2000 characters");
  await expect(page.getByText("Plays the cello")).toBeVisible();
  await expect(box).not.toBeEmpty();
  await axe(page);
  await box.fill("Sings in a choir");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("listitem").getByText("Sings in a choir")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("focus keeps its place by keyboard alone", async ({ page, user, visit }) => {
  const lukasa = lukasaFor(user);
  for (const content of ["Plays the cello", "Sings in a choir", "Keeps bees"]) {
    await lukasa.memories.save(content);
  }
  await visit(PANEL);
  const edit = page.getByRole("button", { name: "Edit: Sings in a choir" });
  await edit.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await expect(edit).toBeFocused();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Edit" }).fill("Sings in two choirs");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("button", { name: "Edit: Sings in two choirs" })).toBeFocused();
  // The focus moves to the next row, and after the last one to the input.
  for (const left of [2, 1]) {
    await page
      .getByRole("button", { name: /^Forget/ })
      .first()
      .focus();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("listitem")).toHaveCount(left);
    await expect(page.getByRole("button", { name: /^Forget/ }).first()).toBeFocused();
  }
  await page.keyboard.press("Enter");
  await expect(page.getByText("Nothing yet")).toBeVisible();
  await expect(page.getByLabel("Remember something")).toBeFocused();
});

test("rules tab is open by default if there is no context; narrow, light and dark", async ({
  page,
  user,
  visit,
}) => {
  await (await userThemselves(user)).memories.save({
    content: "Never suggest dishes with peanuts",
    force: "hard",
    domain: "food",
    key: "diet.peanuts",
    value: "never",
  });
  await lukasaFor(user).memories.propose({
    content: "Prefers night trains to planes whenever there is one",
    reasoning: "Asked for trains twice",
  });
  await page.setViewportSize({ width: 320, height: 640 });
  await visit(PANEL);
  await expect(page.getByRole("tab", { name: "Rules" })).toHaveAttribute("aria-selected", "true");
  await expect(page.getByText("Never suggest dishes with peanuts")).toBeVisible();
  await expect(page.getByText("diet.peanuts: never")).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide, "no horizontal overflow").toBeLessThanOrEqual(320);
  const [edit, forget] = await Promise.all(
    [/^Edit: /, /^Forget: /].map((name) => page.getByRole("button", { name }).boundingBox()),
  );
  expect(edit?.y, "the buttons of a row stay together").toBe(forget?.y);
  await axe(page);
  await screenshot(page, "panel-narrow");
  await page.evaluate(() => document.body.classList.add("night"));
  await axe(page);
  await screenshot(page, "panel-narrow-night");
});

test("memory event, sources and budget meter under a reply", async ({ page, user, visit }) => {
  const lukasa = lukasaFor(user);
  const written = await lukasa.memories.save("Prefers window seats on long flights");
  const context = await lukasa.memories.retrieve({ query: "Book me a flight", session_id: "trip" });
  await lukasa.sessions.append("trip", [
    { role: "user", content: "Book me a flight" },
    { role: "assistant", content: "By the window." },
  ]);
  await visit(
    `<lukasa-memory-event></lukasa-memory-event><lukasa-budget-meter></lukasa-budget-meter>
     <lukasa-sources session="trip" turn="2"></lukasa-sources>`,
    `document.querySelector("lukasa-memory-event").done = ${JSON.stringify(written)};
     document.querySelector("lukasa-budget-meter").budget = ${JSON.stringify(context.budget)};
     ${RECORD_EVENTS}`,
  );
  await expect(page.getByRole("status").first()).toContainText("Memory saved");
  await expect(
    page.getByText(`${context.budget.used} of ${context.budget.limit.toLocaleString("en")} tokens`),
  ).toBeVisible();
  await expect(page.getByRole("region", { name: "What this answer used" })).toBeVisible();
  await axe(page);
  await screenshot(page, "under-a-reply");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("status").first()).toContainText("Undone");
  expect(await lukasa.memories.list().all()).toEqual([]);
  expect(await recordedEvents(page)).toHaveLength(1);
});

test("page sets colours and texts, also in dark mode", async ({ page, user, visit }) => {
  await lukasaFor(user).memories.save("Plays the cello");
  await visit(
    `<lukasa-memory-panel class="branded"></lukasa-memory-panel>`,
    `setStrings({ forget: "Vergessen", soft: "Zusammenhang" }); document.body.classList.add("night");`,
  );
  await expect(page.getByRole("button", { name: /^Vergessen/ })).toBeVisible();
  const weight = await page
    .getByRole("listitem")
    .evaluate((row) => getComputedStyle(row).fontWeight);
  expect(weight).toBe("700");
  const line = await page
    .getByRole("tab", { name: "Zusammenhang" })
    .evaluate((tab) => getComputedStyle(tab).borderBottomColor);
  expect(line).toBe("rgb(0, 90, 60)");
  await screenshot(page, "panel-night");
});

test("hostile text is rendered as text", async ({ page, user, visit }) => {
  const evil = `<img src=x onerror="window.caught=1"><script>window.caught=1</script> javascript:alert(1)`;
  await lukasaFor(user).memories.save(evil);
  await visit(PANEL);
  await expect(page.getByText("<img src=x")).toBeVisible();
  expect(await page.evaluate("window.caught")).toBeUndefined();
});

test("token minted for another page is refused", async ({ page, user, visit }) => {
  await lukasaFor(user).memories.save("Plays the cello");
  const { mintFor } = await visit("<p>not yet</p>");
  mintFor("https://elsewhere.example");
  await page.evaluate(() => document.body.append(document.createElement("lukasa-memory-panel")));
  await expect(page.getByText("Memory is temporarily unavailable")).toBeVisible();
  await expect(page.getByText("Plays the cello")).toHaveCount(0);
});

test("expired token is replaced", async ({ page, user, visit }) => {
  const lukasa = lukasaFor(user);
  await lukasa.memories.save("Plays the cello");
  const { minted } = await visit(PANEL);
  await expect(page.getByText("Plays the cello")).toBeVisible();
  expect(minted()).toBe(1);
  // The first write is refused once with 401; the element retries it with a new token.
  await page.route(`${LUKASA}/api/memory`, async (route) => {
    if (route.request().method() !== "POST" || minted() > 1) return route.continue();
    return route.fulfill({ status: 401, headers: { "access-control-allow-origin": "*" } });
  });
  await page.getByLabel("Remember something").fill("Sings in a choir");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("listitem").getByText("Sings in a choir")).toBeVisible();
  expect(minted()).toBe(2);
});
