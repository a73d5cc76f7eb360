import type { Page } from "@playwright/test";
import { axe, expect, open, screens, test } from "../fixture.ts";
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
  const list = page.getByRole("region", { name: "Imports so far" });
  await expect(list).toContainText("3 memories are found by search");
  await list.getByRole("button", { name: "Use all" }).click();
  await expect(list.getByText("found by search")).toHaveCount(0);
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.imports.list())[0]?.undecided).toBe(3);
});

test("other and damaged ZIPs are refused with a reason", async ({ page }) => {
  await open(page, "/data");
  await choose(page, { name: "photos/1.json", content: "[]" });
  await expect(page.getByRole("alert")).toContainText("no export of ChatGPT, Claude or Lukasa");
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
