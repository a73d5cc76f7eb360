/** One memory: its history, its links, time travel, and erasing it. */
import { axe, expect, open, screens, test } from "../../fixture.ts";
import { weekend } from "../../life.ts";
import { live } from "./life.ts";

test.describe.configure({ timeout: 90_000 });

test("history lists versions, and restoring one writes a new version", async ({ page, lukasa }) => {
  const { retire = "" } = await live(lukasa);
  await open(page, "/memory?text=retire");
  await expect(page.locator("button[data-memory]").first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("h");
  const panel = page.getByRole("complementary", { name: "Memory" });
  const history = panel.getByRole("region", { name: "History" });
  await expect(history.locator("del")).toHaveText("50");
  await expect(history.locator("ins")).toHaveText("55");
  await expect(history).toContainText("by you");
  await screens(page, "memory-panel");
  await history.getByRole("button", { name: "Restore this version" }).click();
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("retire at 50");
  await expect.poll(async () => (await lukasa.memories.get(retire)).version).toBe(3);
  await expect(history.getByText("Changed")).toHaveCount(2);
  await page.keyboard.press("z");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("retire at 55");
  // After a reload the history shows the undo as well.
  await page.reload();
  await expect(history.getByText("Undone", { exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
});

test("related memories are listed below a memory, and each opens", async ({ page, lukasa }) => {
  for (const content of ["Grows tomatoes on the balcony", "Tomatoes need water", "Plays the cello"])
    await lukasa.memories.save(content);
  const clusters = await lukasa.clusters();
  expect(clusters.map((one) => one.memories.length)).toEqual([2]);
  const idOf = async (words: string) =>
    (await lukasa.memories.list().all()).find((one) => one.content.includes(words))?.id ?? "";
  await open(page, `/memory/${await idOf("Grows")}`);
  const related = page.getByRole("region", { name: "Related memories" });
  await expect(related.getByRole("link")).toHaveText(["Tomatoes need water"]);
  await axe(page);
  await screens(page, "memory-related");
  await related.getByRole("link").click();
  await expect(page.getByRole("heading", { level: 2, name: "Tomatoes need water" })).toBeVisible();
  await expect(related.getByRole("link")).toHaveText(["Grows tomatoes on the balcony"]);
  const cello = await idOf("cello");
  const answered = page.waitForResponse(/\/api\/clusters/);
  await open(page, `/memory/${cello}`);
  await answered;
  await expect(page.getByRole("heading", { level: 2, name: "Plays the cello" })).toBeVisible();
  await expect(page.getByRole("tab", { name: "About", selected: true })).toBeVisible();
  await expect(related).toHaveCount(0);
});

test("time travel shows what was true then, read-only", async ({ page, lukasa }) => {
  const { retire = "" } = await live(lukasa);
  await lukasa.memories.update(retire, {
    mode: "correction",
    content: "Wants to retire at 57",
  });
  await open(page, "/memory");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("retire at 57");
  await page.keyboard.press("t");
  const slider = page.getByRole("slider", { name: "As of" });
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("PageDown");
  await expect(page).toHaveURL(/as_of=/);
  const banner = page.getByRole("status").filter({ hasText: "This is what was true on" });
  await expect(banner).toBeVisible();
  const list = page.getByRole("list", { name: "Memory" });
  await expect(list).toContainText("retire at 50");
  await expect(list).not.toContainText("retire at 57");
  await screens(page, "memory-past");
  await axe(page);
  // Read-only: shortcuts that write do nothing, and the panel lacks their buttons.
  await page.getByText("Wants to retire at 50").click();
  const panel = page.getByRole("complementary", { name: "Memory" });
  await expect(panel.getByText("Wants to retire at 50").first()).toBeVisible();
  await expect(panel.getByRole("button", { name: "Forget" })).toHaveCount(0);
  await page.keyboard.press("f");
  await page.keyboard.press("d");
  await banner.getByRole("button", { name: "Back to now" }).click();
  await expect(list).toContainText("retire at 57");
  expect((await lukasa.memories.get(retire)).status).toBe("active");
});

test("time travel by known_at shows a memory before its correction", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save({ content: "Lives in Mitte", valid_from: "2026-01-01" });
  const id = saved.memory?.id ?? "";
  const then = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await lukasa.memories.update(id, { mode: "correction", content: "Lives in Wedding" });
  await open(page, `/memory?known_at=${then}`);
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("Lives in Mitte");
  await open(page, `/memory/${id}?known_at=${then}`);
  await expect(page.getByText("This is what Lukasa knew on")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Lives in Mitte" })).toBeVisible();
  await open(page, `/memory/${id}`);
  await expect(page.getByRole("heading", { name: "Lives in Wedding" })).toBeVisible();
});

test("links are created by search, and ended", async ({ page, lukasa }) => {
  const ids = await live(lukasa);
  const id = ids["Learning Portuguese for a move to Lisbon"] ?? "";
  await open(page, `/memory/${id}`);
  await page.getByRole("button", { name: "Link", exact: true }).click();
  await page.getByRole("textbox", { name: "Find the other memory" }).fill("flat graca");
  await expect(page.getByRole("button", { name: /Looking for a flat/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("link", { name: /Looking for a flat/ })).toBeVisible();
  expect((await lukasa.memories.links(id).all()).length).toBe(1);
  await axe(page);
  await screens(page, "memory-one");
  await page.getByRole("button", { name: "End this link" }).click();
  await expect(page.getByText("No links yet.")).toBeVisible();
  await page.keyboard.press("z");
  await expect(page.getByRole("link", { name: /Looking for a flat/ })).toBeVisible();
});

test("erasing a memory shows what is removed, asks for a word, and gives a receipt", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/404/);
  const { retire = "" } = await live(lukasa);
  await open(page, `/memory?one=${retire}`);
  const panel = page.getByRole("complementary", { name: "Memory" });
  await panel.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Erase permanently" }).click();
  const dialog = page.getByRole("dialog", { name: "Erase this memory?" });
  await expect(dialog.getByRole("region", { name: "This is removed" })).toContainText("1 memory");
  await expect(dialog).toContainText("Wants to retire at 55");
  const yes = dialog.getByRole("button", { name: "Erase" });
  await expect(yes).toBeDisabled();
  // With the capital letter and the space that phone keyboards add.
  await dialog.getByRole("textbox").fill("Erase ");
  await axe(page);
  await screens(page, "memory-erase");
  await yes.click();
  const done = page.getByRole("dialog", { name: "Erased" });
  await expect(done.getByRole("article")).toContainText("checked in this browser");
  await expect(done.getByRole("button", { name: "Receipt" })).toBeVisible();
  await expect(done.getByRole("button", { name: "Close" }).last()).toBeFocused();
  await axe(page);
  await screens(page, "memory-erased");
  await page.keyboard.press("Enter");
  await expect(done).toHaveCount(0);
  await expect(page.getByText("Wants to retire at 55")).toHaveCount(0);
  await expect(lukasa.memories.get(retire)).rejects.toThrow();
});

test("one memory has the same parts and verbs in the panel, on its page and under its sources", async ({
  page,
  lukasa,
}) => {
  const { retire = "" } = await live(lukasa);
  const seen: string[][] = [];
  for (const path of [
    `/memory?one=${retire}`,
    `/memory/${retire}`,
    `/sources?memory=${retire}&tab=about`,
  ]) {
    await open(page, path);
    const verbs = page.getByRole("group", { name: "What to do with this memory" });
    await expect(verbs.getByRole("button", { name: "Forget" })).toBeVisible();
    const tabs = page.getByRole("tablist", { name: "Parts of this memory" });
    await tabs.getByRole("tab", { name: "Used" }).click();
    await expect(page.getByText("Not used in an answer yet.")).toBeVisible();
    await tabs.getByRole("tab", { name: "Sources" }).click();
    await expect(page.getByRole("heading", { name: "Based on" })).toBeVisible();
    await axe(page);
    await verbs.getByRole("button", { name: "More actions" }).click();
    await expect(page.getByRole("menuitem", { name: /^Delete/ })).toBeVisible();
    seen.push([
      ...(await verbs.getByRole("button").allTextContents()),
      ...(await tabs.getByRole("tab").allTextContents()),
      ...(await page.getByRole("menuitem").allTextContents()),
    ]);
    await page.keyboard.press("Escape");
  }
  expect(seen[0]).toEqual(
    expect.arrayContaining(["CorrectE", "It changedO", "ConfirmC", "ForgetF"]),
  );
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test("a memory that changed keeps what was true before", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save({ content: "Lives in Mitte", valid_from: "2026-01-01" });
  const id = saved.memory?.id ?? "";
  await open(page, `/memory/${id}`);
  await page.getByRole("button", { name: "It changed" }).click();
  await page.getByRole("textbox", { name: "What is true now?" }).fill("Lives in Wedding");
  await page.getByLabel("Since").fill("2026-03-01");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "History" }).locator("ins")).toHaveText("Wedding");
  await expect.poll(async () => (await lukasa.memories.get(id)).valid_from).toContain("2026-03-01");
  const february = { as_of: "2026-02-01T00:00:00Z" };
  expect((await lukasa.memories.get(id, february)).content).toBe("Lives in Mitte");
});

test("memory is rated with thumbs", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save("Likes oolong tea");
  const id = saved.memory?.id ?? "";
  await open(page, `/memory/${id}`);
  const down = page.getByRole("button", { name: "Bad memory" });
  await down.click();
  await expect(down).toHaveAttribute("aria-pressed", "true");
  await expect.poll(async () => (await lukasa.memories.get(id)).rating).toBe("down");
  await axe(page);
  await page.getByRole("button", { name: "Correct it" }).click();
  await expect(page.getByRole("textbox").first()).toHaveValue("Likes oolong tea");
  await page.keyboard.press("Escape");
  await down.click();
  await expect(down).toHaveAttribute("aria-pressed", "false");
  await expect.poll(async () => (await lukasa.memories.get(id)).rating).toBeUndefined();
});

test("rating changes nothing else of the memory, and can be undone", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save("Plays the cello");
  const id = saved.memory?.id ?? "";
  await open(page, `/memory/${id}`);
  const good = page.getByRole("button", { name: "Good memory" });
  const bad = page.getByRole("button", { name: "Bad memory" });
  await good.click();
  await expect(good).toHaveAttribute("aria-pressed", "true");
  const message = page.getByRole("region", { name: "Messages" });
  await expect(message).toContainText("Rated as good");

  // The memory is changed elsewhere while the second rating is on its way.
  let answer = () => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/rating", async (route) => {
    await late;
    await route.continue();
  });
  await bad.click();
  await lukasa.memories.update(id, { content: "Plays the viola", mode: "correction" });
  const content = page.locator("main h2");
  await expect(content).toHaveText("Plays the viola");
  answer();
  await expect(bad).toHaveAttribute("aria-pressed", "true");
  await expect(content).toHaveText("Plays the viola");

  await message.getByRole("button", { name: "Undo" }).last().click();
  await expect(good).toHaveAttribute("aria-pressed", "true");
  await expect.poll(async () => (await lukasa.memories.get(id)).rating).toBe("up");
});

test("guess is found by its certainty, and confirmed where it is shown in full", async ({
  page,
  lukasa,
}) => {
  await weekend(lukasa);
  const guess = (await lukasa.memories.list({ status: "candidate" }).all()).find((one) =>
    one.content.includes("rowing"),
  );
  await open(page, "/memory?tier=candidate");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("rowing");
  await open(page, `/memory/${guess?.id}`);
  await page.getByRole("button", { name: /^Confirm/ }).click();
  await expect.poll(async () => (await lukasa.memories.get(guess?.id ?? "")).status).toBe("active");
  await page.keyboard.press("z");
  await expect
    .poll(async () => (await lukasa.memories.get(guess?.id ?? "")).status)
    .toBe("candidate");
});
