/** User journeys on the Memory page, by keyboard wherever there is a shortcut. */
import { expect, open, screens, test } from "../../fixture.ts";
import { live } from "./life.ts";

test.describe.configure({ timeout: 90_000 });

const focused = "button[data-memory]:focus";

test("row actions have shortcuts, and each is undone", async ({ page, lukasa }) => {
  const ids = await live(lukasa);
  const sister = ids["Has a sister called Ana who lives in Porto"] ?? "";
  await open(page, "/memory?group=category");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list.getByText("Wants to retire at 55")).toBeVisible();
  // The list has one tab stop, and J and K move along it.
  await expect(list.locator("button[tabindex='0']")).toHaveCount(1);
  await page.keyboard.press("j");
  await expect(page.locator(focused)).toContainText("nurse");
  await page.keyboard.press("k");
  await expect(page.locator(focused)).toContainText("sister");
  // C confirms, F forgets; the focus stays at the same place.
  const before = (await lukasa.memories.get(sister)).last_confirmed_at;
  await page.keyboard.press("c");
  await expect
    .poll(async () => (await lukasa.memories.get(sister)).last_confirmed_at)
    .not.toBe(before);
  await page.keyboard.press("f");
  await expect(list.getByText("Has a sister")).toHaveCount(0);
  await expect(page.locator(focused)).toContainText("nurse");
  await expect(page.getByRole("tab", { name: /^Forgotten/ })).toContainText("2");
  await page.keyboard.press("z");
  await expect(list.getByText("Has a sister")).toBeVisible();
  // D moves it to the trash, where the remaining days are shown.
  await page.keyboard.press("d");
  await expect(page.getByRole("tab", { name: /Trash/ })).toContainText("2");
  await page.getByRole("tab", { name: /Trash/ }).click();
  await expect(page).toHaveURL(/status=trashed/);
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("30 days left");
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  await expect(page.getByRole("status").getByText("Restored")).toBeVisible();
  // S opens the sources beside the list.
  await page.getByRole("tab", { name: /^All/ }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  const panel = page.getByRole("complementary", { name: "Memory" });
  await expect(panel.getByRole("heading", { name: "Based on" })).toBeVisible();
  await expect(list).toBeVisible();
});

test("E edits in place, and the text shows before the server answers", async ({ page, lukasa }) => {
  const ids = await live(lukasa);
  const id = ids["Works night shifts as a nurse at the Charité in Berlin"] ?? "";
  await open(page, "/memory?text=nurse");
  await expect(page.locator("button[data-memory]").first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  const words = page.getByRole("textbox", { name: "What it says" });
  await expect(words).toBeFocused();
  await screens(page, "memory-edit");
  await words.fill("Works day shifts as a nurse at the Charité in Berlin");
  let answer = () => {};
  const released = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(`**/api/memory/${id}`, async (route) => {
    if (route.request().method() === "PATCH") await released;
    await route.continue();
  });
  await page.keyboard.press("Enter");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("Works day shifts");
  expect((await lukasa.memories.get(id)).content).toContain("night");
  answer();
  await expect.poll(async () => (await lukasa.memories.get(id)).content).toContain("day shifts");
  await expect(page.locator(focused)).toContainText("day shifts");
  // Escape leaves everything as it was.
  await page.keyboard.press("e");
  await words.fill("nonsense");
  await page.keyboard.press("Escape");
  await expect(page.locator(focused)).toContainText("day shifts");
  // Area, force and dates are edited in the same place.
  await page.keyboard.press("e");
  await page.getByRole("combobox", { name: "How it is used" }).click();
  await page.getByRole("option", { name: "rule" }).click();
  await page.getByLabel("True until").fill("2027-05-01");
  await page.getByRole("button", { name: /^Save\b/ }).click();
  await expect.poll(async () => (await lukasa.memories.get(id)).force).toBe("hard");
  const now = await lukasa.memories.get(id);
  expect(now.key).toBe("works-day-shifts-nurse-charite-berlin");
  expect(now.valid_until?.slice(0, 10)).toBe("2027-05-01");
});

test("selection with X: several memories are forgotten and undone together", async ({
  page,
  lukasa,
}) => {
  await live(lukasa);
  await open(page, "/memory?domain=travel");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list.locator("button[data-memory]")).toHaveCount(3);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  const bar = page.getByRole("region", { name: "Selected memories" });
  await expect(bar).toContainText("2 selected");
  await screens(page, "memory-selected");
  await bar.getByRole("button", { name: "Forget" }).click();
  await expect(list.locator("button[data-memory]")).toHaveCount(1);
  await expect(page.getByRole("status").getByText("Forgotten")).toBeVisible();
  expect((await lukasa.memories.list({ status: "forgotten" }).all()).length).toBe(3);
  await page.keyboard.press("z");
  await expect(list.locator("button[data-memory]")).toHaveCount(3);
  await expect
    .poll(async () => (await lukasa.memories.list({ status: "forgotten" }).all()).length)
    .toBe(1);
  // Moved to another domain, all of them.
  await page.locator("button[data-memory]").first().focus();
  await page.keyboard.press("Control+a");
  await expect(bar).toContainText("3 selected");
  await bar.getByRole("button", { name: "Move" }).click();
  await page.getByRole("menuitem", { name: "Work" }).click();
  await expect
    .poll(async () => (await lukasa.memories.list({ domain: "work" }).all()).length)
    .toBe(4);
});

test("proposals are listed on top and answered there", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/memory");
  const waiting = page.getByRole("region", { name: "Suggestions" });
  const train = waiting.getByRole("listitem").filter({ hasText: "overnight train" });
  await expect(train).toContainText("I'd rather sleep on the train to Vienna");
  await train.getByRole("button", { name: "Edit" }).click();
  await train.getByRole("textbox").fill("Prefers night trains below 1,000 km");
  await page.keyboard.press("Enter");
  await expect(waiting.getByRole("listitem")).toHaveCount(1);
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("Prefers night trains");
  await waiting.getByRole("button", { name: "Reject" }).click();
  await expect(waiting).toHaveCount(0);
  await expect.poll(async () => (await lukasa.memories.proposals().all()).length).toBe(0);
  await page.keyboard.press("z");
  await expect(waiting.getByRole("listitem")).toHaveCount(1);
});

test("filter narrows while typing, and search by meaning gives reasons", async ({
  page,
  lukasa,
}) => {
  await live(lukasa);
  await open(page, "/memory");
  await expect(page.locator("button[data-memory]").first()).toBeVisible();
  await page.keyboard.press("/");
  const box = page.getByRole("textbox", { name: "Filter memories" });
  await expect(box).toBeFocused();
  await box.fill("graca flat");
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list.locator("button[data-memory]")).toHaveCount(1);
  await expect(page).toHaveURL(/text=graca/);
  await page.reload();
  await expect(list.locator("button[data-memory]")).toHaveCount(1);
  await box.fill("what language for Lisbon");
  await page.keyboard.press("Enter");
  const found = page.getByRole("list", { name: "Found by meaning" });
  await expect(found).toContainText("Portuguese");
  await expect(found).toContainText("matches “lisbon”");
  await screens(page, "memory-meaning");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(focused)).toBeVisible();
  await box.fill("quetzalcoatl");
  await page.keyboard.press("Enter");
  await expect(page.getByText("No matches")).toBeVisible();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(page.getByRole("list", { name: "Memory" })).toBeVisible();
});

test("refused text stays in its field", async ({ page, lukasa, allowed }) => {
  allowed.push(/422/);
  await lukasa.memories.save("Plays the cello");
  await open(page, "/memory");
  await expect(page.getByText("Plays the cello")).toBeVisible();
  const refuse = { status: 422, json: { title: "That is too long", status: 422, code: "invalid" } };
  await page.route("**/api/memory**", (route) =>
    route.request().method() === "GET" ? route.continue() : route.fulfill(refuse),
  );
  await page.keyboard.press("n");
  const field = page.getByRole("textbox", { name: "A memory to save" });
  await field.fill("Something that took a while to put into words");
  await field.press("Enter");
  await expect(page.getByText("The server did not accept this. That is too long")).toBeVisible();
  await expect(field).toHaveValue("Something that took a while to put into words");
  await field.press("Escape");
  await page.locator("button[data-memory]").first().focus();
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "What it says" }).fill("Plays the viola");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Plays the cello")).toBeVisible();
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "What it says" })).toHaveValue("Plays the viola");
});

test("first memory shows without a reload", async ({ page, lukasa }) => {
  await open(page, "/memory");
  await expect(
    page.getByRole("heading", { name: "Tell me something about yourself" }),
  ).toBeVisible();
  const curl = page.locator("pre", { hasText: "curl" });
  await expect(curl).toContainText(new URL(page.url()).origin);
  await screens(page, "memory-empty");
  await lukasa.memories.save("I only travel by train");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("by train");
});
