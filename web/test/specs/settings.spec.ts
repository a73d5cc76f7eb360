import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { Lukasa } from "lukasa-client";
import { axe, expect, open, screens, test } from "../fixture.ts";

const guarded = process.env.CONSOLE_KEYS_URL ?? "";
const key = process.env.CONSOLE_ADMIN_KEY ?? "";

// Each test is a whole journey, and most run axe on the way.
test.slow();

test("policy settings are saved, undone and reset", async ({ page, lukasa }) => {
  await open(page, "/settings");
  await axe(page);
  await screens(page, "settings-rules");
  await page.getByRole("radio", { name: /Ask me first/ }).click();
  await expect(page.getByRole("status").getByText("Settings saved")).toBeVisible();
  expect((await lukasa.policy.get()).user).toMatchObject({ preset: "assistant" });
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect.poll(async () => (await lukasa.policy.get()).user.preset ?? null).toBeNull();
  await page.getByRole("combobox", { name: "How much of a chat is kept" }).click();
  await page.getByRole("option", { name: "What a memory cites" }).click();
  await expect.poll(async () => (await lukasa.policy.get()).user.keep_turns).toBe("excerpts");
  await page.getByRole("combobox", { name: "What is inferred about Travel" }).click();
  await page.getByRole("option", { name: "Infer nothing" }).click();
  await expect
    .poll(async () => (await lukasa.policy.get()).user.domains)
    .toEqual({ travel: "off" });
  await page.getByRole("button", { name: "Reset to the server's settings" }).click();
  await expect.poll(async () => (await lukasa.policy.get()).user).toEqual({});
});

test("sensitive area is off until the user turns it on, and undo turns it off", async ({
  page,
  lukasa,
}) => {
  await open(page, "/settings");
  const health = page.getByRole("switch", { name: /Health/ });
  await expect(health).not.toBeChecked();
  await expect(page.getByRole("listitem").filter({ hasText: "Health" })).toContainText("Off");
  await health.focus();
  await screens(page, "settings-domains");
  await page.keyboard.press("Space");
  await expect(page.getByRole("status").getByText("Health is on")).toBeVisible();
  const opened = async () =>
    Boolean((await lukasa.domains.list()).find((one) => one.name === "health")?.opted_in_at);
  expect(await opened()).toBe(true);
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect.poll(opened).toBe(false);
  await expect(health).not.toBeChecked();
});

test("advisor preset asks for one consent, and undo withdraws it", async ({ page, lukasa }) => {
  await open(page, "/settings");
  const finance = async () => {
    const found = (await lukasa.domains.list()).find((one) => one.name === "finance");
    return [Boolean(found?.opted_in_at), found?.admits_inferred];
  };
  await expect(page.getByRole("button", { name: "Agree" })).toHaveCount(0);
  await expect(
    page.getByText("Uses what it infers at once. Asks once about finances."),
  ).toBeVisible();
  await page.getByRole("radio", { name: /Remember right away/ }).click();
  await expect(
    page.getByText(/You are still asked about permissions and instructions/),
  ).toBeVisible();
  expect(await finance()).toEqual([false, false]);
  await axe(page);
  await page.getByRole("button", { name: "Agree" }).click();
  await expect.poll(finance).toEqual([true, true]);
  await expect(page.getByRole("button", { name: "Agree" })).toHaveCount(0);
  await page.keyboard.press("z");
  await expect.poll(finance).toEqual([false, false]);
});

test("key is shown once, works, and is revoked", async ({ page, user, baseURL }) => {
  await open(page, "/developer?tab=apps");
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog");
  const name = `travel assistant ${user}`;
  await expect(dialog.getByLabel("What it is for")).toBeFocused();
  await dialog.getByLabel("What it is for").fill(name);
  await dialog.getByLabel("Only for one user").fill(user);
  await dialog.getByRole("checkbox", { name: "erase permanently" }).click();
  await axe(page);
  await screens(page, "settings-make-key");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const secret = (await page.getByRole("dialog").locator("pre").first().textContent()) ?? "";
  expect(secret).toMatch(/^lk_live_/);
  await page.keyboard.press("Escape");
  await expect(page.getByText(secret)).toHaveCount(0);
  // The key works on the server that requires keys, on the same database.
  const app = new Lukasa({ url: guarded, key: secret });
  await app.memories.save("Likes night trains");
  const row = page.getByRole("listitem").filter({ hasText: name });
  await expect(row).toContainText("erase permanently");
  await expect(async () => {
    await page.reload();
    await expect(row).toContainText("last used now", { timeout: 1_000 });
  }).toPass();
  await axe(page);
  await screens(page, "settings-apps");
  await row.getByRole("button", { name: "Revoke" }).click();
  const act = page.getByRole("dialog").getByRole("button", { name: "Revoke" });
  await expect(act).toBeDisabled();
  await page.getByRole("dialog").getByRole("textbox").fill(name);
  await page.keyboard.press("Enter");
  await expect(row).toContainText("revoked");
  expect(baseURL).toBeTruthy();
  await expect
    .poll(
      () =>
        app.memories
          .list()
          .all()
          .then(
            () => "in",
            () => "out",
          ),
      { timeout: 20_000 },
    )
    .toBe("out");
});

test("MCP address shown in the settings works, and the page shows the connection", async ({
  page,
  lukasa,
  user,
}) => {
  await lukasa.memories.save("Likes night trains");
  await open(page, "/settings?tab=assistants");
  const connect = page.getByRole("region", { name: "Connect an assistant" });
  await expect(connect.locator("pre").last()).toContainText(`--user '${user}'`);
  const other = connect.getByRole("listitem").filter({ hasText: "Other assistants" });
  const { mcpServers } = JSON.parse((await other.locator("pre").textContent()) ?? "");
  await expect(connect.getByRole("status").first()).toContainText(
    "No assistant has saved anything",
  );
  const call = async (name: string, args: object) => {
    const response = await fetch(mcpServers.lukasa.url, {
      method: "POST",
      headers: {
        ...mcpServers.lukasa.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    return response.text();
  };
  expect(await call("list_memories", {})).toContain("Likes night trains");
  await call("save_memory", { content: "Likes tea with milk" });
  await expect(connect.getByRole("status").first()).toContainText(
    "Connected: an assistant saved a memory",
  );
  await axe(page);
  await screens(page, "settings-connected");
});

test("new area gets an id that the API accepts", async ({ page, lukasa, user }) => {
  await open(page, "/settings");
  await page.getByRole("button", { name: "Add an area" }).click();
  const dialog = page.getByRole("dialog");
  const name = dialog.getByRole("textbox", { name: "Name" });
  await name.fill("料理");
  await expect(dialog).toContainText("It needs a letter from a to z");
  await expect(dialog.getByRole("button", { name: "Add" })).toBeDisabled();
  const title = `Große Ernährung ${user}`;
  await name.fill(title);
  await expect(dialog).toContainText(`The API knows it as grosse-ernahrung-${user}.`);
  await name.press("Enter");
  await expect(page.getByRole("listitem").filter({ hasText: title })).toBeVisible();
  const added = (await lukasa.domains.list()).find((one) => one.display_name === title);
  expect(added?.name).toBe(`grosse-ernahrung-${user}`);
});

test("times are shown in the time zone that is remembered", async ({ page, lukasa }) => {
  await lukasa.memories.save("Plays the cello");
  await open(page, "/settings?tab=look");
  await axe(page);
  await screens(page, "settings-look");
  await page.getByRole("combobox", { name: "Times are shown in" }).click();
  await page.getByRole("option", { name: "Asia/Tokyo" }).click();
  await expect(page.getByText(/Saved as a memory for assistants/)).toBeVisible();
  const zone = (await lukasa.memories.list({ domain: "personal" }).all()).find(
    (one) => one.key === "timezone",
  );
  expect(zone).toMatchObject({ force: "hard", value: "Asia/Tokyo" });
  // A browser without stored preferences shows times in it as well.
  await page.evaluate(() => localStorage.clear());
  await open(page, "/activity");
  const expected = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "Asia/Tokyo",
  }).format(new Date(zone?.created_at ?? ""));
  await expect(page.locator("time").first()).toHaveAttribute("title", expected);
});

test("single-key shortcuts, language and theme are set", async ({ page }) => {
  await open(page, "/settings?tab=look");
  await page.getByRole("switch", { name: "Single-key shortcuts" }).click();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.getByRole("combobox", { name: "Language" }).click();
  await page.getByRole("option", { name: "Deutsch" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Einstellungen" })).toBeVisible();
  await page.getByRole("combobox", { name: "Farben" }).click();
  await page.getByRole("option", { name: "Dunkel" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("tab list fades where it overflows on a phone", async ({ page, lukasa }) => {
  await lukasa.memories.save("Plays the cello");
  await page.setViewportSize({ width: 320, height: 700 });
  await open(page, "/memory");
  const tabs = page.getByRole("tablist");
  const fades = () => tabs.evaluate((list) => getComputedStyle(list).maskImage !== "none");
  await expect.poll(fades).toBe(true);
  await page.getByRole("tab", { name: "All" }).focus();
  await page.keyboard.press("End");
  await expect(page.getByRole("tab", { name: "Trash" })).toBeInViewport({ ratio: 0.9 });
  await expect.poll(fades).toBe(false);
});

test("job list shows an empty state and scheduled jobs", async ({ page, lukasa }) => {
  await open(page, "/developer?tab=jobs");
  await expect(page.getByText("No pending jobs")).toBeVisible();
  await lukasa.sessions.append("a-chat", [{ role: "user", content: "Which funds do I hold?" }]);
  await expect(page.getByRole("list", { name: "Background jobs" })).toContainText(
    "Close an idle chat",
    { timeout: 15_000 },
  );
  await axe(page);
  await screens(page, "settings-jobs");
});

/** Makes the retry of a chat's learning due now: the server waits for minutes between two attempts. */
async function makeRetryDue(session: string): Promise<void> {
  const sql = `update job set run_at = now() where state = 'waiting' and kind = 'extract' and key = '${session}'`;
  await promisify(execFile)(process.env.CONSOLE_PSQL ?? "psql", [
    "-qX",
    process.env.CONSOLE_DATABASE_URL ?? "",
    "-c",
    sql,
  ]);
}

test("failed jobs show their error and are retried by keyboard", async ({ page, lukasa, user }) => {
  const riddle = async (method: "PUT" | "DELETE") => {
    const body = `riddle of ${user}`;
    await fetch(`${process.env.CONSOLE_LEARNER_URL}/riddle`, { method, body });
  };
  await riddle("PUT");
  const chats = [`lisbon-${user}`, `porto-${user}`];
  const sentences = ["we moved into a flat in Lisbon", "I fly to Porto every other Friday"];
  for (const [at, chat] of chats.entries()) {
    const content = `Since last month ${sentences[at]}. That is the riddle of ${user}.`;
    await lukasa.sessions.append(chat, [{ role: "user", content }]);
    await lukasa.sessions.close(chat);
  }
  // After five unreadable answers the server gives up.
  await expect(async () => {
    for (const chat of chats) await makeRetryDue(chat);
    const dead = (await lukasa.learning.jobs()).filter((job) => job.state === "dead");
    expect(dead.map((job) => job.attempts)).toEqual([5, 5]);
  }).toPass({ timeout: 60_000, intervals: [500] });
  await open(page, "/developer?tab=jobs");
  const list = page.getByRole("list", { name: "Background jobs" });
  const dead = list.getByRole("listitem").filter({ hasText: "failed" });
  await expect(dead).toHaveCount(2);
  await expect(dead.first()).toContainText("Learn from a chat");
  await expect(dead.first()).toContainText("tried 5 times");
  await expect(dead.first()).toContainText("JSON");
  await expect(page.getByRole("button", { name: "Retry all 2" })).toBeVisible();
  await axe(page);
  await screens(page, "settings-jobs-dead");

  // The model answers properly again, and one job is retried.
  await riddle("DELETE");
  const first = dead.filter({ has: page.locator(`a[href*="lisbon-"]`) });
  await first.getByRole("button", { name: "Try again" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").getByText("Retrying")).toBeVisible();
  await expect(list).toBeFocused();
  const learned = async () => (await lukasa.memories.list().all()).map((one) => one.content);
  await expect.poll(learned, { timeout: 15_000 }).toEqual(["User lives in a flat in Lisbon."]);
  await expect(dead).toHaveCount(1, { timeout: 10_000 });

  // The other job links to its chat.
  await dead.getByRole("link").click();
  await expect(page).toHaveURL(/\/sources\?.*porto-/);
  await expect(page.getByText("every other Friday").first()).toBeVisible();
});

test.describe("server with sign-in", () => {
  test.use({ baseURL: guarded });
  test.beforeEach(async ({ page, user, allowed }) => {
    allowed.push(/401/);
    await page.goto("/sign-in");
    await page.getByLabel("Key").fill(key);
    await page.getByRole("textbox", { name: "User" }).fill(user);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page).toHaveURL(/\/memory$/);
  });

  test("operator adds a user and creates a sign-in link", async ({ page, user, browser }) => {
    const other = `aa-${user}-ana`;
    await open(page, "/developer?tab=people");
    await page.getByLabel("User id").fill(other);
    await page.keyboard.press("Enter");
    const row = page
      .getByRole("list", { name: "Users with a memory here" })
      .getByRole("listitem")
      .filter({ hasText: other });
    await expect(row).toBeVisible();
    await axe(page);
    await screens(page, "settings-people");
    await row.getByRole("button", { name: "Sign-in link" }).click();
    const link = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    const userPage = await browser.newPage();
    await userPage.goto(link);
    await expect(userPage.getByRole("button", { name: /Your account/ })).toContainText(other);
    // The user sees their own settings and none of the operator's.
    await userPage.goto(`${guarded}/settings`);
    await expect(userPage.getByRole("tab", { name: "Remembering" })).toBeVisible();
    await expect(userPage.getByRole("button", { name: "Developer" })).toHaveCount(0);
    await userPage.goto(`${guarded}/developer`);
    await expect(userPage.getByRole("tab", { name: "Jobs" })).toBeVisible();
    await expect(userPage.getByRole("tab", { name: "Apps and keys" })).toHaveCount(0);
    await userPage.close();
  });

  test("webhook is added, tested, delivered to, and replayed", async ({ page, user, allowed }) => {
    let deliveries = 0;
    const receiver = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        deliveries++;
        response.writeHead(204).end();
      });
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;
    try {
      await open(page, "/developer?tab=webhooks");
      allowed.push(/422/);
      await page.getByLabel("Endpoint URL").fill("ftp://example.com/lukasa");
      await page.getByRole("button", { name: "Add" }).click();
      await expect(page.getByRole("alert")).toContainText("an https URL");
      await page.getByLabel("Endpoint URL").fill(`http://127.0.0.1:${port}/lukasa`);
      await page.getByRole("button", { name: "Add" }).click();
      await expect(page.getByRole("dialog").locator("pre")).toContainText("whsec_");
      await page.keyboard.press("Escape");
      const row = page
        .getByRole("list", { name: "Webhooks" })
        .getByRole("listitem")
        .filter({ hasText: `:${port}/` });
      await row.getByRole("button", { name: "Send a test" }).click();
      await expect(page.getByRole("status").getByText("The test arrived")).toBeVisible();
      expect(deliveries).toBe(1);
      await new Lukasa({ url: guarded, key, user }).memories.save("Keeps bees on the roof");
      await expect.poll(() => deliveries, { timeout: 15_000 }).toBeGreaterThan(1);
      const before = deliveries;
      await row.getByRole("button", { name: "Deliveries" }).click();
      await expect(row.getByText("delivered").first()).toBeVisible({ timeout: 10_000 });
      await axe(page);
      await screens(page, "settings-webhooks");
      await row.getByRole("button", { name: "Send again" }).first().click();
      await expect.poll(() => deliveries, { timeout: 15_000 }).toBeGreaterThan(before);
      // A failed request must not look like an empty list.
      allowed.push(/503/);
      await page.route("**/deliveries?*", (route) => route.fulfill({ status: 503, body: "" }));
      await page.reload();
      await row.getByRole("button", { name: "Deliveries" }).click();
      await expect(row.getByRole("alert")).toBeVisible({ timeout: 20_000 });
      await expect(row.getByText("Nothing has been sent yet")).toHaveCount(0);
      await page.unroute("**/deliveries?*");
      await row.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("textbox").fill(`127.0.0.1:${port}`);
      await page.keyboard.press("Enter");
      await expect(row).toHaveCount(0);
    } finally {
      receiver.close();
    }
  });
});
