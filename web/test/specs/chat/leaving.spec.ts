/** The end of a chat: closed on leaving, cut to the context window, and not stored if incognito. */
import { answered, say, appended as test } from "../../chat.ts";
import { axe, expect, open, screens, seed } from "../../fixture.ts";

test("chat is closed on leaving if it has new messages", async ({ page, lukasa, allowed }) => {
  allowed.push(/favicon/);
  const beacons: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/beacon")) beacons.push(request.postData() ?? "");
  });
  await lukasa.sessions.append("old", { role: "user", content: "My bike squeaks" });
  await open(page, "/chat/old");
  await expect(page.getByRole("log").getByText("My bike squeaks")).toBeVisible();
  await page.getByRole("button", { name: /^New chat/ }).click();
  await expect(page).toHaveURL(/\/chat$/);
  await say(page, "Remember that my bike is red");
  await expect(page.getByRole("button", { name: /^Memory saved/ })).toBeVisible();
  await answered(page);
  expect(beacons, "the old chat has no new messages").toEqual([]);
  const session = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await expect.poll(async () => (await lukasa.sessions.get(session)).turns).toBe(2);
  await page.getByRole("link", { name: "My bike squeaks" }).click();
  await expect
    .poll(() => beacons)
    .toEqual([JSON.stringify({ session_id: session, has_new_turns: true })]);
  await expect.poll(async () => (await lukasa.sessions.get(session)).state).toBe("idle");

  // Also when the page is unloaded.
  await page.goBack();
  await say(page, "Remember that my bike is fast");
  await expect(page.getByRole("button", { name: /^Memory saved/ })).toHaveCount(2);
  await answered(page);
  await expect.poll(async () => (await lukasa.sessions.get(session)).state).toBe("active");
  await page.goto("/healthz");
  await expect.poll(async () => (await lukasa.sessions.get(session)).state).toBe("idle");
});

test("incognito: memory is used, and nothing of the chat is kept", async ({ page, lukasa }) => {
  await seed(lukasa, ["Only flies with hand luggage"]);
  await open(page, "/chat");
  await page.getByRole("button", { name: "Memory on" }).click();
  await page.getByRole("menuitemradio", { name: "Incognito, uses memory" }).click();
  await expect(page.getByText("Incognito", { exact: true })).toBeVisible();
  await expect(page.getByText("This chat is not stored")).toBeVisible();
  await axe(page);
  await say(page, "What luggage do I take on a flight?");
  await expect(page.getByRole("button", { name: /^Searched memories · 1 found/ })).toBeVisible();
  await answered(page);
  await say(page, "Remember that I have a secret");
  await expect(page.getByRole("log").getByText("No model is connected yet").first()).toBeVisible();
  await answered(page);
  await screens(page, "chat-incognito");
  expect((await lukasa.memories.list({ status: "all" }).all()).map((one) => one.content)).toEqual([
    "Only flies with hand luggage",
  ]);
  const sessions = await lukasa.sessions.list().all();
  expect(sessions.filter((one) => one.turns > 0)).toEqual([]);
  expect((await lukasa.sessions.search("secret")).data).toEqual([]);
  await page.reload();
  await expect(page.getByRole("heading", { name: "This chat leaves no trace" })).toBeVisible();
  // No session is left either.
  await expect.poll(async () => (await lukasa.sessions.list().all()).length).toBe(0);
  await expect(page.getByRole("navigation", { name: "Chats" }).getByRole("link")).toHaveCount(0);
});

test("incognito without memory: nothing is used either", async ({ page, lukasa }) => {
  await seed(lukasa, ["Only flies with hand luggage"]);
  await open(page, "/chat?mode=off");
  const [request] = await Promise.all([
    page.waitForRequest("**/v1/chat/completions"),
    say(page, "What luggage do I take on a flight?"),
  ]);
  expect(request.headers()["x-lukasa-mode"]).toBe("off");
  await expect(page.getByRole("log").getByText("No model is connected yet")).toBeVisible();
  expect(await lukasa.sessions.list().all()).toEqual([]);
});

test("chat larger than the context window shows where it is cut", async ({ page, lukasa }) => {
  const long = "We talked about the move to Lisbon, the flat, the cello and the taxes. ".repeat(
    110,
  );
  for (let round = 0; round < 10; round++) {
    await lukasa.sessions.append("long", [
      { role: "user", content: `Question ${round}. ${long}` },
      { role: "assistant", content: `Answer ${round}. ${long}` },
    ]);
  }
  await open(page, "/chat/long");
  const cut = page.getByRole("button", { name: "14 earlier messages no longer reach the model" });
  await expect(cut).toBeAttached();
  await cut.scrollIntoViewIfNeeded();
  await cut.click();
  await expect(page.getByText("Nothing of it was deleted.")).toBeVisible();
  await expect(page.getByRole("log").getByText(/^Question 0\./)).toBeAttached();
  await axe(page);
  await screens(page, "chat-cut");
  const window = await lukasa.sessions.window("long");
  const [request] = await Promise.all([
    page.waitForRequest("**/v1/chat/completions"),
    say(page, "And what now?"),
  ]);
  const { messages } = JSON.parse(request.postData() ?? "{}") as { messages: { role: string }[] };
  const spoken = messages.filter((one) => one.role !== "system");
  expect(spoken.length).toBe(window.turns.length + 1);
});

test("degraded memory is reported under the reply", async ({ page }) => {
  await page.route("**/v1/chat/completions", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({
      response: answer,
      headers: { ...answer.headers(), "lukasa-degraded": "deadline" },
    });
  });
  await open(page, "/chat");
  await say(page, "Hello there");
  await expect(page.getByText("Part of the memory was not available")).toBeVisible();
});
