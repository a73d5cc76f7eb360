/** The first five minutes: an empty memory is filled by typing, by pasting, and by connecting an assistant. */
import { Lukasa } from "lukasa-client";
import { axe, BOTH, expect, open, screens, test } from "../../fixture.ts";

test("first memory is one question, by keyboard alone, and undo brings the question back", async ({
  page,
  lukasa,
  allowed,
}) => {
  // The store reads the memories that an event names; an undone save answers 404.
  allowed.push(/404/);
  await open(page, "/memory");
  const question = page.getByRole("textbox", { name: "Tell me something about yourself" });
  await expect(question).toBeVisible();
  await axe(page, BOTH);
  await screens(page, "start");
  // Nothing to view yet, so there is nothing to choose a view of.
  await expect(page.getByRole("button", { name: "Look back in time" })).toHaveCount(0);
  await page.getByRole("button", { name: "I'm vegetarian" }).focus();
  await page.keyboard.press("Enter");
  await expect(question).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").getByText("New chats will use it")).toBeVisible();
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("I'm vegetarian");
  expect((await lukasa.memories.list().all()).map((one) => one.content)).toEqual([
    "I'm vegetarian",
  ]);
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(0);
});

test("unfinished example is not saved, and a rule is saved as one", async ({ page, lukasa }) => {
  await open(page, "/memory");
  const question = page.getByRole("textbox", { name: "Tell me something about yourself" });
  const save = page.getByRole("button", { name: "Save", exact: true });
  await page.getByRole("button", { name: "I live in …" }).click();
  await expect(question).toHaveValue("I live in ");
  await expect(question).toBeFocused();
  await expect(save).toBeDisabled();
  await page.keyboard.press("Enter");
  await page.keyboard.type("Lyon");
  await expect(save).toBeEnabled();
  await question.fill("Never suggest dishes with peanuts");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("peanuts");
  const [rule, ...more] = await lukasa.memories.list().all();
  expect(rule).toMatchObject({ force: "hard", domain: "food" });
  expect(rule?.key).toContain("peanuts");
  expect(more).toEqual([]);
});

test("first memory leads on until an assistant is connected, or the hint is closed", async ({
  page,
  lukasa,
  user,
  baseURL,
}) => {
  await lukasa.memories.save("Lives in Lyon");
  await open(page, "/memory");
  const hint = page.getByRole("region", { name: "Next step" });
  await expect(
    hint.getByText("Connect an assistant so that it knows this.", { exact: true }),
  ).toBeVisible();
  await axe(page);
  await screens(page, "start-next");
  await hint.getByRole("link", { name: "Connect" }).click();
  await expect(page.getByRole("tab", { name: "Assistants", selected: true })).toBeVisible();
  await page.goBack();
  await hint.getByRole("link", { name: "Import" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Import & export" })).toBeVisible();
  await page.goBack();
  await hint.getByRole("button", { name: "Hide this hint" }).click();
  await expect(hint).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("Lives in Lyon");
  await expect(hint).toHaveCount(0);
  // On another device it is shown until an assistant saves something.
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await expect(hint).toBeVisible();
  await fetch(`${baseURL}/mcp`, {
    method: "POST",
    headers: {
      "x-lukasa-user": user,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "save_memory", arguments: { content: "Likes tea with milk" } },
    }),
  });
  await expect(hint).toHaveCount(0, { timeout: 15_000 });
});

test("pasted list is split, previewed, saved, and undone as one", async ({
  page,
  lukasa,
  allowed,
}) => {
  // The store reads the memories that an event names; undone saves answer 404.
  allowed.push(/404/);
  await open(page, "/memory");
  await page
    .getByRole("textbox", { name: "Pasted facts" })
    .fill(
      "**About you**\n- Lives in Lyon\n- Has two cats\n2. Works nights as a nurse\n\n- Lives in Lyon",
    );
  const preview = page.getByRole("region", { name: "3 facts found" });
  await expect(preview.getByRole("checkbox")).toHaveCount(3);
  await preview.getByRole("checkbox", { name: "Has two cats" }).click();
  await axe(page);
  await screens(page, "start-pasted");
  await preview.getByRole("button", { name: "Save 2 memories" }).click();
  // What was saved is shown by area.
  const list = page.getByRole("list", { name: "What was saved" });
  await expect(list).toContainText("Lives in Lyon");
  await expect(list).toContainText("Works nights as a nurse");
  expect(await lukasa.memories.list().all()).toHaveLength(2);
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(0);
});

test("line that the server refuses stays in the box with the reason", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/4\d\d/);
  const refused = "My card number is 4111 1111 1111 1111";
  await open(page, "/memory");
  await page.getByRole("textbox", { name: "Pasted facts" }).fill(`Lives in Lyon\n${refused}`);
  await page.getByRole("button", { name: "Save 2 memories" }).click();
  const preview = page.getByRole("region", { name: "1 fact found" });
  await expect(preview).toContainText(refused);
  await expect(preview.locator(".text-bad")).not.toBeEmpty();
  expect((await lukasa.memories.list().all()).map((one) => one.content)).toEqual(["Lives in Lyon"]);
});

test("assistants are connected by copying, and commands are for developers", async ({
  page,
  context,
  user,
  baseURL,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, "/memory");
  await expect(page.getByRole("listitem").filter({ hasText: "ChatGPT" })).toContainText(
    "needs an https address",
  );
  const card = page.getByRole("listitem").filter({ hasText: "VS Code" });
  await card.getByRole("button", { name: "Copy" }).click();
  await expect(card.getByRole("button", { name: "Copied" })).toBeVisible();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  expect(copied.servers.lukasa).toMatchObject({
    type: "http",
    url: `${baseURL}/mcp`,
    headers: { "X-Lukasa-User": user },
  });
  await expect(page.getByText("lukasa connect")).toBeHidden();
  await expect(page.getByText("curl ")).toBeHidden();
  await page.getByText("For developers").click();
  await expect(page.getByText("lukasa connect")).toBeVisible();
  await expect(page.getByText("curl ")).toBeVisible();
});

test("address names the user to show, as the one that the demo prints", async ({
  page,
  user,
  baseURL,
}) => {
  const demo = `${user}-demo`;
  await new Lukasa({ url: baseURL, user: demo }).memories.save("Likes sample data");
  await page.goto(`/?user=${demo}`);
  await expect(page.getByText("Likes sample data")).toBeVisible();
  await expect(page).toHaveURL(/\/memory$/);
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(demo);
});
