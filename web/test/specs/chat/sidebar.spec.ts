/** The chats by recency: search, rename, delete and restore, by pointer and by keyboard. */
import type { Lukasa } from "lukasa-client";
import { answered, say, appended as test } from "../../chat.ts";
import { axe, expect, open, screens } from "../../fixture.ts";

const DAY = 86_400_000;

/** Seeds a few weeks of chats: today's are appended, the older ones imported. */
async function life(lukasa: Lukasa): Promise<(title: string) => string> {
  const older: [string, number, string, string][] = [
    ["Risotto without wine", 1, "A risotto without peanuts", "Use apple juice and stock."],
    ["Two countries, one tax", 4, "Do I pay tax twice?", "Only until the day you move."],
    ["First cello suite", 6, "Which suite is easiest?", "The first one, in G major."],
    ["The bike squeaks", 30, "My bike squeaks in the rain", "Oil the chain and dry the pads."],
  ];
  const items = older.map(([title, ago, question, answer]) => {
    const said_at = new Date(Date.now() - ago * DAY).toISOString();
    const turns = [
      { role: "user", content: question, said_at },
      { role: "assistant", content: answer, said_at },
    ];
    return JSON.stringify({ item: "chat", source: title, title, before: 0, last: true, turns });
  });
  await lukasa.imports.create(items.join("\n"), { source: "elsewhere" });
  await lukasa.sessions.append("lisbon", [
    { role: "user", content: "How do I register as a resident in Lisbon?" },
    { role: "assistant", content: "You need a NIF first." },
  ]);
  await lukasa.sessions.append("shifts", [
    { role: "user", content: "Plan my night shifts so that I can see Ana" },
    { role: "assistant", content: "Swap Thursday for Sunday." },
  ]);
  const all = await lukasa.sessions.list().all();
  return (title) => all.find((one) => one.title === title)?.id ?? title;
}

test("chats are grouped by recency, found, renamed and deleted", async ({ page, lukasa }) => {
  await life(lukasa);
  await open(page, "/chat/shifts");
  const chats = page.getByRole("navigation", { name: "Chats" });
  const group = (name: string) => chats.getByRole("region", { name });
  await expect(group("Today").getByRole("link")).toHaveCount(2);
  await expect(group("Yesterday").getByRole("link", { name: /Risotto/ })).toBeVisible();
  await expect(group("Previous 7 days").getByRole("link")).toHaveCount(2);
  await expect(group("Older").getByRole("link", { name: /bike/ })).toBeVisible();
  await expect(chats.locator("[aria-current=page]")).toHaveText(/night shifts/);
  await axe(page);
  await screens(page, "chat-sidebar");

  await page.getByRole("searchbox", { name: "Search in chats" }).fill("apple juice");
  await expect(group("Found").getByRole("link")).toHaveText([/Risotto/]);
  await page.getByRole("searchbox", { name: "Search in chats" }).fill("");

  await group("Today").getByText("night shifts").hover();
  await page.getByRole("button", { name: /Actions for “Plan my night/ }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const name = page.getByRole("textbox", { name: "New name of the chat" });
  await expect(name).toBeFocused();
  await name.fill("Seeing Ana");
  await name.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Seeing Ana" })).toBeVisible();
  await expect.poll(async () => (await lukasa.sessions.get("shifts")).title).toBe("Seeing Ana");
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect.poll(async () => (await lukasa.sessions.get("shifts")).title).toBe("");
  await expect(
    page.getByRole("heading", { level: 1, name: /^Plan my night shifts/ }),
  ).toBeVisible();

  await group("Today").getByText("night shifts").hover();
  await page.getByRole("button", { name: /Actions for “Plan my night/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/chat$/);
  await expect(group("Today").getByRole("link")).toHaveCount(1);
  await page
    .getByRole("status")
    .filter({ hasText: "Chat in the trash" })
    .getByRole("button", { name: "Undo" })
    .last()
    .click();
  await expect(group("Today").getByRole("link")).toHaveCount(2);
  expect((await lukasa.sessions.get("shifts")).trashed_at).toBeNull();
});

test("chat list by keyboard: new, next, rename, delete, undo", async ({ page, lukasa }) => {
  const named = await life(lukasa);
  const tax = named("Two countries, one tax");
  await open(page, "/chat/lisbon");
  const field = page.getByRole("textbox", { name: "Message" });
  await expect(field).toBeFocused();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option", { selected: true })).toHaveText(/New chat/);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/chat$/);
  await expect(field).toBeFocused();
  await page.getByRole("main").focus();
  await page.keyboard.press("/");
  const find = page.getByRole("searchbox", { name: "Search in chats" });
  await expect(find).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Use apple juice and stock.")).toBeVisible();
  await page.getByRole("main").focus();
  await page.keyboard.press("j");
  await expect(page.getByText("Only until the day you move.")).toBeVisible();
  await page.getByRole("main").focus();
  await page.keyboard.press("r");
  await expect(page.getByRole("textbox", { name: "New name of the chat" })).toBeFocused();
  await page.keyboard.type("Taxes");
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await lukasa.sessions.get(tax)).title).toBe("Taxes");
  await page.getByRole("main").focus();
  await page.keyboard.press("d");
  await expect(page).toHaveURL(/\/chat$/);
  await expect.poll(async () => (await lukasa.sessions.get(tax)).trashed_at).toBeTruthy();
  await page.getByRole("main").focus();
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.sessions.get(tax)).trashed_at).toBeNull();
  // Deleting from the list moves the focus to the next chat.
  const chats = page.getByRole("navigation", { name: "Chats" });
  await chats.getByRole("link", { name: /night shifts/ }).focus();
  await page.keyboard.press("Delete");
  await expect(chats.getByRole("link", { name: /night shifts/ })).toHaveCount(0);
  await expect(chats.getByRole("link", { name: /resident in Lisbon/ })).toBeFocused();
});

test("Z after archiving a chat moves it back, and undoes nothing else", async ({
  page,
  lukasa,
}) => {
  await life(lukasa);
  await lukasa.memories.save("Plays the cello");
  await open(page, "/chat/lisbon");
  const chats = page.getByRole("navigation", { name: "Chats" });
  const state = async () => (await lukasa.sessions.get("shifts")).state;
  const before = await state();
  await chats.getByText("night shifts").hover();
  await page.getByRole("button", { name: /Actions for “Plan my night/ }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  // At once: the request may still be under way.
  await page.getByRole("main").focus();
  await page.keyboard.press("z");
  await expect(page.getByText("Back in the list")).toBeVisible();
  await expect.poll(state).not.toBe("archived");
  expect(before).not.toBe("archived");
  const now = await lukasa.memories.list().all();
  expect(now.map((one) => one.content)).toEqual(["Plays the cello"]);
});

test("deleted chat takes along what was learned from it, and is restored with it", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/404/);
  const beacons: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/beacon")) beacons.push(request.url());
  });
  await open(page, "/chat");
  await say(page, "Remember that my bike is red");
  await expect(page.getByRole("button", { name: /^Memory saved/ })).toBeVisible();
  await answered(page);
  await expect(page).toHaveURL(/\/chat\/chat-/);
  const address = page.url();
  const session = new URL(address).pathname.split("/").at(-1) ?? "";
  await expect.poll(async () => (await lukasa.sessions.get(session)).turns).toBe(2);
  await page.getByRole("main").focus();
  expect(beacons, "the chat is still open").toEqual([]);
  await page.keyboard.press("d");
  const toast = page.getByRole("status").filter({ hasText: "Chat in the trash" });
  await expect(toast).toContainText(
    "1 memory stays, because you stated it, agreed to it or had it saved",
  );
  await expect(page).toHaveURL(/\/chat$/);
  await page.waitForTimeout(600);
  expect(beacons, "a deleted chat is not closed and learned from").toEqual([]);
  // Its address shows that it is in the trash, and links to the deleted chats.
  await page.goto(address);
  await expect(page.getByRole("heading", { name: "This chat is in the trash" })).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveCount(0);
  await axe(page);
  await screens(page, "chat-trashed");
  await page.getByRole("link", { name: "Deleted chats" }).click();
  await expect(page.getByRole("button", { name: /^Restore/ })).toBeVisible();
  await page.goto(address);
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByRole("log")).toContainText("my bike is red");
  expect((await lukasa.sessions.get(session)).trashed_at).toBeNull();
});

test("chat list is a drawer on phones", async ({ page, lukasa }) => {
  await life(lukasa);
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, "/chat/lisbon");
  await page.getByRole("button", { name: "Chats" }).click();
  const drawer = page.getByRole("dialog", { name: "Chats" });
  await expect(drawer.getByRole("link", { name: /bike/ })).toBeVisible();
  await axe(page);
  await screens(page, "chat-drawer");
  await page.setViewportSize({ width: 390, height: 844 });
  await drawer.getByRole("link", { name: /bike/ }).click();
  await expect(page.getByText("Oil the chain and dry the pads.")).toBeVisible();
  await expect(drawer).toHaveCount(0);
});

test("hostile text is rendered as text in chats", async ({ page, lukasa }) => {
  const nasty = "<img src=x onerror=alert(1)> [click](javascript:alert(1)) **bold**\n- <b>item</b>";
  await lukasa.sessions.append("nasty", [
    { role: "user", content: nasty },
    { role: "assistant", content: `${nasty}\n\n\`\`\`html\n<script>alert(1)</script>\n\`\`\`` },
  ]);
  await open(page, "/chat/nasty");
  const log = page.getByRole("log");
  await expect(log.getByText("<script>alert(1)</script>")).toBeVisible();
  await expect(log.locator("img, script, b")).toHaveCount(0);
  await expect(log.locator("a")).toHaveCount(0);
  await expect(log.locator("strong")).toHaveText("bold");
});

test("unknown chat shows not found", async ({ page, allowed }) => {
  allowed.push(/404/);
  await open(page, "/chat/nowhere");
  await expect(page.getByRole("heading", { name: "This chat does not exist" })).toBeVisible();
});

test("chat page from right to left", async ({ page, lukasa }) => {
  await life(lukasa);
  await page.addInitScript(() => {
    localStorage.setItem("lukasa.preferences", JSON.stringify({ language: "xx-RTL" }));
  });
  await page.goto("/chat/lisbon");
  await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
  await expect(page.getByText("You need a NIF first.")).toBeVisible();
  await axe(page);
  await screens(page, "chat-rtl");
});
