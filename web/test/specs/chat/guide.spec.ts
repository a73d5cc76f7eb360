/** A server without a model: the scripted guide answers, and the page shows what it does with memory. */
import { say } from "../../chat.ts";
import { axe, expect, open, screens, test } from "../../fixture.ts";

test("empty chat shows suggestions and who answers", async ({ page }) => {
  await open(page, "/chat");
  await expect(page.getByText("No model yet, so only simple requests work.")).toBeVisible();
  await expect(page.getByText("AI can be wrong. Check what matters.")).toBeVisible();
  await axe(page);
  await screens(page, "chat-empty");
  await page.getByRole("button", { name: "Remember that I only fly with hand luggage" }).click();
  const field = page.getByRole("textbox", { name: "Message" });
  await expect(field).toHaveValue("Remember that I only fly with hand luggage");
  await expect(field).toBeFocused();
});

test("memory line under the reply opens and undoes, also after a reload", async ({
  page,
  lukasa,
}) => {
  await open(page, "/chat");
  await say(page, "Remember that I want to retire at age 50");
  const line = page.getByRole("button", { name: /^Memory saved · I want to retire at age 50/ });
  await expect(line).toBeVisible();
  await expect(page).toHaveURL(/\/chat\/chat-/);
  await say(page, "Change age 50 to age 55");
  const changed = page.getByRole("button", { name: /^Memory updated/ });
  await expect(changed.locator("del")).toHaveText("50");
  await expect(changed.locator("ins")).toHaveText("55");
  await changed.click();
  await expect(page.getByText("In this chat from your next message on")).toBeVisible();
  await expect(page.getByRole("link", { name: "Open in Memory" })).toBeVisible();
  await axe(page);
  await screens(page, "chat-saved");

  await page.reload();
  await expect(line).toBeVisible();
  await expect(changed.locator("ins")).toHaveText("55");
  await page.getByRole("button", { name: "Undo" }).last().click();
  await expect(page.getByRole("button", { name: /^Undone/ })).toBeVisible();
  const [memory] = (await lukasa.memories.list().page()).data;
  await expect
    .poll(async () => (await lukasa.memories.get(memory?.id ?? "")).content)
    .toBe("I want to retire at age 50");
  // It was the user, not an app.
  const chat = page.url();
  await open(page, `/memory/${memory?.id}?tab=history`);
  await expect(page.getByText("by you, in Chat").first()).toBeVisible();
  await page.goto(chat);
  await page.getByRole("button", { name: "Redo" }).click();
  await expect
    .poll(async () => (await lukasa.memories.get(memory?.id ?? "")).content)
    .toBe("I want to retire at age 55");
  expect(await lukasa.memories.list().all(), "no double").toHaveLength(1);
});

test("what the guide does not understand can be saved with one click, and a question cannot", async ({
  page,
  lukasa,
}) => {
  await open(page, "/chat");
  await say(page, "My name is Paula and I live in Lyon");
  const offer = page.getByRole("button", { name: /^Save “My name is Paula/ });
  await axe(page);
  await screens(page, "chat-offer");
  await offer.click();
  await expect(page.getByRole("status").getByText("Saved", { exact: true })).toBeVisible();
  await expect(offer).toHaveCount(0);
  // The chat may also have been learned from by now.
  const saved = await lukasa.memories.list({ search: "Lyon" }).all();
  expect(saved.map((one) => one.content)).toEqual(["My name is Paula and I live in Lyon"]);
  await say(page, "Where do I live?");
  await expect(page.getByRole("button", { name: /^Searched memories/ })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Save “/ })).toHaveCount(0);
});
