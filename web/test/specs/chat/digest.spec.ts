/** After a chat: what was learned from it and what was not, each with one click. */
import { appended } from "../../chat.ts";
import { axe, expect, open, screens } from "../../fixture.ts";

// The server learns from a real chat, which takes time.
appended.describe.configure({ timeout: 90_000 });

appended(
  "chat ends with what was learned, and each item has one click",
  async ({ page, lukasa, allowed }) => {
    // A memory that was kept is requested once more after its undo and answers 404.
    allowed.push(/404.*\/api\/memory\/mem_/);
    await lukasa.policy.put({ titles: false });
    await lukasa.sessions.append("week", [
      {
        role: "user",
        content:
          "I work nights as a nurse. I might take up rowing. I was diagnosed with type 2 diabetes.",
      },
      { role: "assistant", content: "Rowing is a good balance to night shifts." },
    ]);
    await open(page, "/chat/week");
    const digest = page.getByRole("region", { name: "Learning from this chat" });
    await expect(digest).toContainText("Lukasa learns from this chat when it pauses.");
    await digest.getByRole("button", { name: "Learn now" }).click();
    const nurse = digest.getByRole("listitem").filter({ hasText: "works nights as a nurse" });
    const rowing = digest.getByRole("listitem").filter({ hasText: "might take up rowing" });
    await expect(nurse).toBeVisible({ timeout: 20_000 });
    await expect(rowing).toContainText("guess");
    await expect(digest.getByRole("region", { name: "Said, and not saved" })).toContainText(
      "Its area is off.",
    );
    await expect(digest).not.toContainText("diabetes");
    await axe(page);
    await screens(page, "chat-digest");

    await rowing.getByRole("button", { name: "Keep it" }).click();
    await expect(rowing.getByText("guess")).toHaveCount(0);
    await nurse.getByRole("button", { name: "Forget" }).click();
    await expect(nurse).toHaveCount(0);
    await expect(page.getByRole("status").getByText("Forgotten")).toBeVisible();
    await page.getByRole("status").getByRole("button", { name: "Undo" }).last().click();
    await expect(nurse).toBeVisible();
  },
);

appended("citation shows the memory on hover and on focus", async ({ page, lukasa }) => {
  const saved = await lukasa.memories.save({ content: "Never eats peanuts", domain: "food" });
  const id = saved.memory?.id ?? "";
  await lukasa.sessions.append("dinner", [
    { role: "user", content: "What can I cook?" },
    { role: "assistant", content: `A curry without peanuts (${id}), with rice.` },
  ]);
  await open(page, "/chat/dinner");
  const citation = page.getByRole("link", { name: "memory 1", exact: true });
  await citation.hover();
  const card = page.getByText("Never eats peanuts");
  await expect(card).toBeVisible();
  await expect(page.getByText("Food and dining")).toBeVisible();
  await axe(page);
  await screens(page, "chat-citation");
  await page.mouse.move(0, 0);
  await expect(card).toBeHidden();
  await citation.focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await expect(citation).toBeFocused();
  await expect(card).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(card).toBeHidden();
  await citation.click();
  await expect(page).toHaveURL(new RegExp(`/memory/${id}`));
});

appended("reply is kept as a note", async ({ page, lukasa, allowed }) => {
  // The store reads the memories that an event names; an undone note answers 404.
  allowed.push(/404.*\/api\/memory\/mem_/);
  await lukasa.sessions.append("airport", [
    { role: "user", content: "How do I get to the airport?" },
    { role: "assistant", content: "Take the ring road, then follow the signs." },
  ]);
  await open(page, "/chat/airport");
  await page.getByRole("button", { name: "Keep as a note" }).click();
  await expect(page.getByRole("status").getByText("Kept as a note")).toBeVisible();
  const notes = async () => await lukasa.memories.list({ tag: "note" }).all();
  await expect.poll(async () => (await notes()).map((note) => note.origin)).toEqual(["assistant"]);
  await page.getByRole("status").getByRole("button", { name: "Undo" }).last().click();
  await expect.poll(notes).toEqual([]);
});

appended(
  "reply that is not stored any more cannot be kept, and the error says so",
  async ({ page, lukasa }) => {
    await lukasa.sessions.append("airport", [
      { role: "user", content: "How do I get to the airport?" },
      { role: "assistant", content: "Take the ring road, then follow the signs." },
    ]);
    await open(page, "/chat/airport");
    const keep = page.getByRole("button", { name: "Keep as a note" });
    await expect(keep).toBeVisible();
    await page.route("**/api/sessions/airport/turns*", (route) =>
      route.fulfill({ json: { data: [] } }),
    );
    await keep.click();
    await expect(page.getByRole("status").last()).toContainText(
      "This reply is not stored any more.",
    );
  },
);
