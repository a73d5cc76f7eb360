import type { Page } from "@playwright/test";
import { axe, expect, open, screens, seedMany, test } from "../fixture.ts";
import { type TestFile, zipOf } from "../zip.ts";

const DAY_S = 86_400;

/** A ChatGPT conversation with one exchange per text. */
function chatGpt(id: number, title: string, texts: string[]) {
  const time = 1_690_000_000 + id * DAY_S;
  const mapping: Record<string, unknown> = {};
  let parent: string | null = null;
  for (const [at, text] of texts.flatMap((said) => [said, "Noted."]).entries()) {
    const node = `${id}-${at}`;
    mapping[node] = {
      id: node,
      parent,
      children: [],
      message: {
        author: { role: at % 2 === 0 ? "user" : "assistant" },
        create_time: time + at,
        content: { content_type: "text", parts: [text] },
      },
    };
    parent = node;
  }
  return { title, create_time: time, conversation_id: `c-${id}`, current_node: parent, mapping };
}

async function choose(page: Page, ...files: TestFile[]) {
  await page.getByLabel("Choose a file").setInputFiles({
    name: "export.zip",
    mimeType: "application/zip",
    buffer: Buffer.from(zipOf(files)),
  });
}

test("ChatGPT export is previewed, imported, undone, and imported again only once", async ({
  page,
  lukasa,
  allowed,
}) => {
  test.slow();
  allowed.push(/404/);
  const titles = ["A trip to Lisbon", "Bread without yeast", "Tax return", "Garden in March"];
  const chats = Array.from({ length: 30 }, (_, at) =>
    chatGpt(at, titles[at % titles.length] ?? "", [`I would like to know about ${at}.`]),
  );
  // Longer than one request.
  chats.push(
    chatGpt(
      30,
      "A very long chat",
      Array.from({ length: 150 }, (_, at) => `Part ${at}`),
    ),
  );
  const files = [
    { name: "export/conversations.json", content: JSON.stringify(chats) },
    { name: "export/chat.html", content: "<html></html>" },
  ];
  await open(page, "/data");
  await choose(page, ...files);
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview).toContainText("Found in your ChatGPT export");
  await expect(preview).toContainText("31 chats with 360 messages");
  await expect(preview).toContainText("July – August 2023");
  await expect(preview.getByRole("list", { name: "Newest chats" })).toContainText("very long chat");
  await expect(preview).toContainText(/about \d+ model calls/);
  const sessions = async () => (await lukasa.sessions.list().all()).length;
  expect(await sessions()).toBe(0);
  await axe(page);
  await screens(page, "import-chatgpt");
  await preview.getByRole("button", { name: "Import now" }).click();
  await expect(page.getByRole("status").getByText("Imported", { exact: true })).toBeVisible();
  expect(await sessions()).toBe(31);
  const brought = page.getByRole("region", { name: "Imported chats" });
  await expect(brought).toContainText("31 chats imported.");
  await expect(brought).toContainText("What Lukasa learns from them waits in Review.");
  await axe(page);
  await screens(page, "import-chats");
  const session = (await lukasa.sessions.list().all()).find((one) => one.id === "chatgpt:c-30");
  expect(session?.title).toBe("A very long chat");

  await choose(page, ...files);
  await expect(preview).toContainText("Nothing new");
  await expect(preview.getByRole("button", { name: "Import now" })).toHaveCount(0);
  await preview.getByRole("button", { name: "Cancel" }).click();

  const list = page.getByRole("region", { name: "Imports so far" });
  await expect(list).toContainText("31 chats");
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(list.getByText("undone")).toBeVisible();
  await expect.poll(sessions).toBe(0);
  await expect(brought).toHaveCount(0);
});

test.describe("server without a model", () => {
  test.use({ baseURL: process.env.CONSOLE_SETUP_URL });

  test("imported chats are counted on the first visit, and lead to reading and learning", async ({
    page,
    lukasa,
  }) => {
    await open(page, "/data");
    const chats = [0, 1].map((at) => chatGpt(at, `Chat ${at}`, ["One", "Two"]));
    await choose(page, { name: "conversations.json", content: JSON.stringify(chats) });
    await page.getByRole("button", { name: "Import now" }).click();
    const brought = page.getByRole("region", { name: "Imported chats" });
    await expect(brought).toContainText("2 chats imported.");
    await open(page, "/memory");
    await expect(brought).toContainText("2 chats imported.");
    // Another server of these tests has a model and the same database, so the state is set here.
    await page.route(/\/api\/sessions\/chatgpt[^/?]*$/, async (route) => {
      const response = await route.fetch();
      const learning = { state: "waiting_for_model" };
      await route.fulfill({ response, json: { ...(await response.json()), learning } });
    });
    // A newer chat that was not imported is not asked for the state.
    await lukasa.sessions.append("chat-new", [{ role: "user", content: "I live in Lisbon." }]);
    await open(page, "/memory");
    await expect(brought).toContainText("nothing is learned from them yet");
    await axe(page);
    await screens(page, "start-chats");
    await brought.getByRole("link", { name: "Set up learning" }).click();
    await expect(page.getByRole("tab", { name: "Assistants", selected: true })).toBeVisible();
    await page.goBack();
    await brought.getByRole("link", { name: "Read them" }).click();
    await expect(page.getByRole("link", { name: /Chat 1/ })).toBeVisible();
  });
});

test("Z after an import undoes the import, and not the change before it", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/404/);
  await open(page, "/data");
  await page.getByLabel("Pasted facts").fill("Plays the cello");
  await page.getByRole("button", { name: "Save 1 memory" }).click();
  await expect(page.getByRole("status").getByText("Saved", { exact: true })).toBeVisible();
  const line = JSON.stringify({ item: "memory", source: "1", content: "Keeps bees on the roof" });
  await page.getByLabel("Choose a file").setInputFiles({
    name: "notes.jsonl",
    mimeType: "application/json",
    buffer: Buffer.from(line),
  });
  await page.getByRole("button", { name: "Import now" }).click();
  await expect(page.getByRole("status").getByText("Imported", { exact: true })).toBeVisible();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("z");
  await expect(page.getByRole("status").getByText("Import undone")).toBeVisible();
  const now = await lukasa.memories.list().all();
  expect(now.map((one) => one.content)).toEqual(["Plays the cello"]);
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(0);
});

test("Claude export with memories waits for one decision", async ({ page, lukasa }) => {
  const chat = {
    uuid: "u-1",
    name: "Bread",
    created_at: "2024-05-01T10:00:00Z",
    chat_messages: [
      { sender: "human", text: "How long does rye dough rest?" },
      { sender: "assistant", text: "About twelve hours." },
    ],
  };
  const facts = ["Keeps bees on the roof", "Bakes bread on Sundays", "Plays the cello"];
  const memories = [{ conversations_memory: `**Home**\n- ${facts.join("\n- ")}` }];
  await open(page, "/data");
  await choose(
    page,
    { name: "conversations.json", content: JSON.stringify([chat]) },
    { name: "memories.json", content: JSON.stringify(memories) },
  );
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByRole("list", { name: "3 memories" })).toContainText(facts[1] ?? "");
  await screens(page, "import-claude");
  await preview.getByRole("button", { name: "Import now" }).click();
  // What was found is shown at once, and nothing is used before it is kept.
  await expect(page.getByRole("heading", { level: 1, name: "What was found" })).toBeVisible();
  const found = page.getByRole("list", { name: "What was found" });
  await expect(found).toContainText("Keeps bees on the roof");
  await axe(page);
  await screens(page, "reveal");
  const undecided = async () => (await lukasa.imports.list())[0]?.undecided;
  expect(await undecided()).toBe(3);
  // Decided later, on the page of the imports.
  await page.getByRole("link", { name: "Decide later" }).click();
  await open(page, "/data");
  const list = page.getByRole("region", { name: "Imports so far" });
  await expect(list).toContainText("3 memories are not used by your assistants yet");
  await list.getByRole("link", { name: "Choose…" }).click();
  await page.getByRole("button", { name: "Drop Plays the cello" }).click();
  await expect(page.getByText("1 dropped")).toBeVisible();
  await axe(page);
  await screens(page, "reveal-dropped");
  await page.getByRole("button", { name: "Keep 2" }).click();
  await expect(page.getByRole("status").getByText("2 kept, 1 dropped")).toBeVisible();
  await expect.poll(undecided).toBe(0);
  const forgotten = async () =>
    (await lukasa.memories.list({ status: "forgotten" }).all()).map((one) => one.content);
  expect(await forgotten()).toEqual(["Plays the cello"]);
  // One undo for all of it.
  await page.keyboard.press("z");
  await expect.poll(undecided).toBe(3);
  expect(await forgotten()).toEqual([]);
});

test("reveal page keeps one area of a large import at a time, and renders only what is visible", async ({
  page,
  lukasa,
}) => {
  test.slow();
  await seedMany(lukasa, 1_200);
  const [one] = await lukasa.imports.list();
  const undecided = async () => (await lukasa.imports.list())[0]?.undecided;
  const all = (await undecided()) ?? 0;
  expect(all).toBeGreaterThan(1_000);
  await open(page, `/reveal?import=${one?.id}`);
  const found = page.getByRole("list", { name: "What was found" });
  await expect(found.getByRole("listitem").first()).toBeVisible();
  expect(await found.getByRole("listitem").count()).toBeLessThan(60);
  await expect(page.getByText(/^[\d,]+ more are not listed here yet/)).toBeVisible();
  const keepArea = found.getByRole("button", { name: /^Keep these/ }).first();
  await keepArea.click();
  await expect(page.getByRole("status").getByText(/^[\d,]+ kept$/)).toBeVisible({
    timeout: 60_000,
  });
  await expect.poll(undecided).toBeLessThan(all);
  await page.getByRole("button", { name: /^Keep all/ }).click();
  await expect.poll(undecided, { timeout: 60_000 }).toBe(0);
});

test("pasted list is revealed by area, and a wrong line is dropped by key", async ({
  page,
  lukasa,
}) => {
  await open(page, "/memory");
  await page
    .getByRole("textbox", { name: "Pasted facts" })
    .fill("Is vegetarian\nWorks as a nurse\nPlays the cello");
  await page.getByRole("button", { name: "Save 3 memories" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "What was saved" })).toBeVisible();
  const found = page.getByRole("list", { name: "What was saved" });
  await expect(found.getByRole("heading", { name: "Food and dining" })).toBeVisible();
  await screens(page, "reveal-pasted");
  await axe(page);
  await page.keyboard.press("j");
  await page.keyboard.press("d");
  await page.getByRole("button", { name: "Forget 1" }).click();
  await expect(page.getByRole("list", { name: "Memory" })).toBeVisible();
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(2);
});

test("other and damaged ZIPs are refused with a reason", async ({ page }) => {
  await open(page, "/data");
  await choose(page, { name: "photos/1.json", content: "[]" });
  await expect(page.getByRole("alert")).toContainText("not an export of ChatGPT, Claude or Lukasa");
  await page.getByLabel("Choose a file").setInputFiles({
    name: "half.zip",
    mimeType: "application/zip",
    buffer: Buffer.from(zipOf([{ name: "conversations.json", content: "[]" }]).slice(0, -30)),
  });
  await expect(page.getByRole("alert")).toContainText("damaged, incomplete or too large");
});

test("import can be stopped, and continues when it is run again", async ({ page, lukasa }) => {
  test.slow();
  const chats = Array.from({ length: 120 }, (_, at) => chatGpt(at, `Chat ${at}`, ["One", "Two"]));
  const file = { name: "conversations.json", content: JSON.stringify(chats) };
  await open(page, "/data");
  await choose(page, file);
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview).toContainText("120 chats with 480 messages", { timeout: 20_000 });
  // The third request waits, so that there is time to stop.
  let requests = 0;
  await page.route("**/api/import?*", async (route) => {
    requests++;
    if (requests < 3) await route.continue();
  });
  await preview.getByRole("button", { name: "Import now" }).click();
  await expect(page.getByText(/\d+ entries imported/)).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByRole("progressbar")).toHaveCount(0);
  await page.unroute("**/api/import?*");
  const sessions = async () => (await lukasa.sessions.list().all()).length;
  expect(await sessions()).toBeLessThan(120);
  await preview.getByRole("button", { name: "Import now" }).click();
  await expect(page.getByRole("status").getByText("Imported", { exact: true })).toBeVisible({
    timeout: 20_000,
  });
  expect(await sessions()).toBe(120);
  expect(await lukasa.imports.list()).toHaveLength(1);
});
