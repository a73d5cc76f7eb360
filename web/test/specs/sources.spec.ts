import { withModel } from "../chat.ts";
import { axe, expect, open, screens, test } from "../fixture.ts";
import { live } from "../life.ts";

// The tests first let the server learn from real chats, which takes time.
test.describe.configure({ timeout: 90_000 });

test("sources lead from a portrait to the sentence and back", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/sources");
  await expect(page.getByRole("link", { name: "Who you are" })).toBeVisible();
  await axe(page);
  await screens(page, "sources");
  await page.getByRole("link", { name: /^Source \d: Lives in a flat in Lisbon/ }).click();
  await expect(
    page.getByRole("heading", { level: 2, name: "Lives in a flat in Lisbon." }),
  ).toBeVisible();
  await expect(page.locator("mark")).toHaveText("we moved into a flat in Lisbon");
  await axe(page);
  await screens(page, "sources-memory");
  const trail = page.getByRole("navigation", { name: "Where you are" });
  await expect(trail).toContainText("Who you are");
  // The title of the episode: the first words of the chat.
  await page.getByRole("link", { name: "Hi", exact: true }).click();
  await expect(page.getByRole("heading", { name: "What was said" })).toBeVisible();
  await axe(page);
  await screens(page, "sources-episode");
  await page
    .getByRole("link", { name: /^You said, 12 Mar 2026, in ‘Tax question’/ })
    .first()
    .click();
  const turn = page.getByRole("article", { name: "Message 1" });
  await expect(turn).toBeFocused();
  await expect(turn.locator("mark").first()).toHaveText("we moved into a flat in Lisbon");
  await expect(turn.getByRole("link", { name: "Works nights as a nurse." })).toBeVisible();
  await axe(page);
  await screens(page, "sources-chat");
  for (const step of ["Who you are", "Lives in a flat in Lisbon.", "Tax question"]) {
    await expect(trail).toContainText(step);
  }
  await trail.getByRole("link", { name: "Lives in a flat in Lisbon." }).click();
  await expect(page.getByRole("heading", { name: "Based on" })).toBeVisible();
});

test("summary of a conversation is edited and the edit undone", async ({ page, lukasa }) => {
  await live(lukasa);
  const [old] = await lukasa.episodes.list({}).all();
  if (!old) throw new Error("no episode");
  await open(page, `/sources?episode=${old.id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await axe(page);
  await page.getByRole("textbox", { name: "Summary" }).fill("We spoke about the move.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("We spoke about the move.").first()).toBeVisible();
  const words = async () =>
    (await lukasa.episodes.list({}).all()).map((episode) => episode.summary);
  // The page shows it before the server has stored it.
  await expect.poll(words).toContain("We spoke about the move.");
  expect(await words()).not.toContain(old.summary);
  // The edited episode has another id, and the page follows it without a wrong one in between.
  const edited = (await lukasa.episodes.list({}).all()).find(
    (one) => one.summary === "We spoke about the move.",
  );
  await expect(page).toHaveURL(new RegExp(`episode=${edited?.id}`));
  await page.keyboard.press("z");
  await expect.poll(words).toContain(old.summary);
  await expect(page.getByRole("main").getByText(old.summary).first()).toBeVisible();
  await expect(page.getByText(/no longer exists/)).toHaveCount(0);
  await expect(page).not.toHaveURL(new RegExp(`episode=${edited?.id}`));
});

test("chat that was not learned from says why, and is learned from on request", async ({
  page,
  lukasa,
}) => {
  await lukasa.policy.put({ extract: "manual" });
  await lukasa.sessions.append("week", [{ role: "user", content: "I work nights as a nurse." }]);
  await open(page, "/sources?session=week");
  await expect(page.getByText("Not learned: set to “Only when asked to”.")).toBeVisible();
  // Closed without learning, by a client and not by a setting of the user.
  await lukasa.policy.put({});
  await lukasa.sessions.close("week", { has_new_turns: false });
  await open(page, "/sources?session=week");
  await expect(page.getByText("Not learned from. Choose Learn now to do it.")).toBeVisible();
  await axe(page);
  await page.getByRole("button", { name: "Learn now" }).click();
  await expect(page.getByText("Learned from this chat.")).toBeVisible({ timeout: 20_000 });
});

test("why page lists used memories, and one is fixed in three clicks", async ({ page, lukasa }) => {
  const { answer } = await live(lukasa);
  let clicks = 0;
  const click = async (name: string | RegExp, within = page.getByRole("main")) => {
    clicks += 1;
    await within.getByRole("button", { name }).click();
  };
  await open(page, `/sources?session=dinner&turn=${answer}`);
  await click("Why this answer?", page.getByRole("article", { name: `Message ${answer}` }));
  const memory = page.getByRole("region", { name: "Lives in a flat in Lisbon." });
  await expect(memory).toContainText("You said, 12 Mar 2026, in ‘Tax question’");
  await expect(page.getByRole("heading", { name: "Used 1 memory" })).toBeVisible();
  await expect(page.getByRole("heading", { name: /^\d+ more available, not used/ })).toBeVisible();
  await expect(page.getByText(/^found by .*\(no\. \d\)/).first()).toBeVisible();
  await expect(page.getByText("already included")).toHaveCount(0);
  await axe(page);
  await screens(page, "why");
  await click("Correct", memory);
  const words = memory.getByRole("textbox", { name: "What it says" });
  await expect(words).toBeFocused();
  await axe(page);
  await words.fill("My brother lives in a flat in Lisbon");
  await click("Save", memory);
  expect(clicks).toBeLessThanOrEqual(3);
  await expect(page.getByRole("status").getByText("Changed")).toBeVisible();
  await expect(memory.locator("ins").first()).toBeVisible();
  await screens(page, "why-fixed");
  const now = (await lukasa.memories.list({}).all()).map((one) => one.content);
  expect(now).toContain("My brother lives in a flat in Lisbon");
  expect(now).not.toContain("User lives in a flat in Lisbon.");
  await memory.getByRole("link", { name: "1 past answer used this: view" }).click();
  await expect(page.getByRole("heading", { name: "1 answer used it" })).toBeVisible();
  await page.keyboard.press("z");
  await expect(
    page.getByRole("heading", { level: 2, name: "Lives in a flat in Lisbon." }),
  ).toBeVisible();
});

test("verbs of a memory by key: it changed, it ended, forget, delete", async ({ page, lukasa }) => {
  await live(lukasa);
  const idOf = async (words: string) =>
    (await lukasa.memories.list({}).all()).find((one) => one.content.includes(words))?.id ?? "";
  const nurse = await idOf("nurse");
  await open(page, `/sources?memory=${nurse}`);
  await expect(page.getByRole("button", { name: "It changed" })).toBeVisible();
  await page.keyboard.press("o");
  await expect(page.getByRole("textbox", { name: "What is true now?" })).toBeFocused();
  await axe(page);
  await screens(page, "detail-changed");
  await page.keyboard.type("Works days as a nurse");
  await page.keyboard.press("Enter");
  // What changed is shown at once.
  await expect(page.getByRole("region", { name: "History" }).locator("ins").first()).toBeVisible();
  await expect
    .poll(async () => (await lukasa.memories.get(nurse)).content)
    .toBe("Works days as a nurse");
  const porto = await idOf("flies to Porto");
  await open(page, `/sources?memory=${porto}`);
  await expect(page.getByRole("button", { name: "It changed" })).toBeVisible();
  await page.keyboard.press("o");
  await page.getByRole("button", { name: "No longer true" }).click();
  await expect.poll(async () => (await lukasa.memories.get(porto)).status).toBe("expired");
  const short = await idOf("short answers");
  await open(page, `/sources?memory=${short}`);
  await expect(page.getByRole("button", { name: "Forget" })).toBeVisible();
  await page.keyboard.press("f");
  await expect.poll(async () => (await lukasa.memories.get(short)).status).toBe("forgotten");
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.memories.get(short)).status).toBe("active");
  // The page knows of the undo, too.
  await expect(page.getByRole("button", { name: "Forget" })).toBeVisible();
  await page.keyboard.press("d");
  await expect.poll(async () => (await lukasa.memories.get(short)).status).toBe("trashed");
});

test("sources navigation by keyboard alone", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/sources?session=dinner");
  await expect(page.getByRole("article")).toHaveCount(2);
  await page.keyboard.press("j");
  await expect(page.getByRole("article", { name: "Message 1" })).toBeFocused();
  await page.keyboard.press("j");
  await expect(page.getByRole("article", { name: "Message 2" })).toBeFocused();
  await page.keyboard.press("d");
  await expect(page.getByRole("region", { name: "What deleting this removes" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("region", { name: "What deleting this removes" })).toHaveCount(0);
  await page.keyboard.press("y");
  await expect(page.getByRole("heading", { name: "Used 1 memory" })).toBeVisible();
  await page.keyboard.press("j");
  const fish = page.getByRole("region", { name: "User eats fish twice a week" });
  // Those that were not used are in the order of their relevance.
  const isFish = () => fish.evaluate((one) => one === document.activeElement);
  for (let at = 0; at < 5 && !(await isFish()); at++) await page.keyboard.press("j");
  await expect(fish).toBeFocused();
  await page.keyboard.press("o");
  await expect(page.getByRole("textbox", { name: "What is true now?" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("textbox", { name: "What is true now?" })).toHaveCount(0);
  await expect(fish).toBeFocused();
  await page.keyboard.press("u");
  await expect(page.getByRole("article", { name: "Message 2" })).toBeFocused();
  await page.keyboard.press("u");
  await expect(page.getByRole("searchbox")).toBeVisible();
});

test("deleted turn takes its memories along, and undo restores them", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/sources?session=tax&turn=1");
  await expect(page.getByRole("article", { name: "Message 1" })).toBeFocused();
  await page.keyboard.press("d");
  const depends = page.getByRole("region", { name: "What deleting this removes" });
  await expect(depends).toContainText("Deleting this removes 1 message, 2 memories and 1 summary.");
  await expect(depends).toContainText("Works nights as a nurse.");
  await axe(page);
  await screens(page, "sources-depends");
  await depends.getByRole("button", { name: "Move to the trash (30 days)" }).click();
  await expect(page.getByText("Message 1: It was deleted.")).toBeVisible();
  const contents = async () => (await lukasa.memories.list({}).all()).map((one) => one.content);
  expect(await contents()).not.toContain("User works nights as a nurse.");
  await page.keyboard.press("z");
  await expect(page.getByRole("article", { name: "Message 1" })).toBeVisible();
  expect(await contents()).toContain("User works nights as a nurse.");
});

test("erasing a turn asks for its name and shows what is removed", async ({
  page,
  lukasa,
  allowed,
}) => {
  // Memories erased with the turn are requested once more and answer 404.
  allowed.push(/404.*\/api\/memory\/mem_/);
  await live(lukasa);
  await open(page, "/sources?session=tax&turn=3");
  await expect(page.getByRole("article", { name: "Message 3" })).toBeFocused();
  await page.keyboard.press("d");
  await page.getByRole("button", { name: "Erase…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("1 message, 1 memory and 1 summary");
  await expect(dialog.getByRole("button", { name: "Erase" })).toBeDisabled();
  await axe(page);
  await screens(page, "sources-erase");
  await dialog.getByRole("textbox").fill("message 3");
  await dialog.getByRole("button", { name: "Erase" }).click();
  // One receipt card for the turn and everything erased with it.
  await expect(dialog.getByRole("heading", { name: "Erased" })).toBeVisible();
  const receipt = dialog.getByRole("article");
  await expect(receipt).toContainText("A message of a chat");
  await expect(receipt).toContainText("1 message");
  await expect(receipt).toContainText("1 memory");
  await expect(receipt).toContainText("checked in this browser");
  await receipt.getByText("What could not be removed").click();
  await expect(receipt.getByText("2 things were erased")).toBeVisible();
  await axe(page);
  await screens(page, "sources-erased");
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(page.getByText("Message 3: It was deleted.")).toBeVisible();
  expect((await lukasa.sessions.turns("tax").all()).map((turn) => turn.number)).toEqual([1, 2]);
});

// The server with a chat upstream runs no workers, so it titles no chats.
withModel(
  "untitled chat is named by its first words, also when it is erased",
  async ({ page, lukasa, allowed }) => {
    allowed.push(/404/);
    await lukasa.sessions.append("chat-mk2x-0f9a", [
      {
        role: "user",
        content: "Remember that I only fly with hand luggage\nand never check a bag",
      },
      { role: "assistant", content: "Noted." },
    ]);
    await lukasa.sessions.open({ id: "chat-ghost", incognito: true });
    await open(page, "/sources?view=chats");
    const words = "Remember that I only fly with hand luggage";
    await page.getByRole("link", { name: new RegExp(words) }).click();
    await expect(page.getByRole("heading", { level: 2, name: words })).toBeVisible();
    await expect(page.getByRole("main")).not.toContainText("chat-");
    await page.keyboard.press("d");
    await page.getByRole("button", { name: "Move to the trash (30 days)" }).click();
    await expect(page.getByRole("status").getByText("Chat in the trash")).toBeVisible();
    // Z undoes the deletion and nothing before it.
    await page.keyboard.press("z");
    await expect(page.getByRole("link", { name: new RegExp(words) })).toBeVisible();
    await page.getByRole("button", { name: `Delete ‘${words}’` }).click();
    await page.getByRole("tab", { name: "Deleted chats" }).click();
    await expect(page.getByText("30 days left")).toBeVisible();
    await axe(page);
    await screens(page, "sources-trash");
    await page.getByRole("button", { name: /^Erase ‘.*’ permanently/ }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("2 messages, and what was learned from them alone");
    await dialog.getByLabel("Type “erase” to confirm").fill("erase");
    await page.keyboard.press("Enter");
    await expect(dialog.getByRole("article")).toContainText("2 messages");
    await screens(page, "sources-trash-erased");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("heading", { name: "The trash is empty" })).toBeVisible();
    await expect(lukasa.sessions.get("chat-mk2x-0f9a")).rejects.toThrow();
  },
);

test("turns not kept by policy show a notice", async ({ page, lukasa }) => {
  await lukasa.sessions.open({ id: "brief", keep_turns: "none" });
  await lukasa.sessions.append("brief", [
    { role: "user", content: "Remember me: I work nights as a nurse." },
    { role: "assistant", content: "Noted." },
  ]);
  await lukasa.sessions.learn("brief");
  await expect
    .poll(async () => (await lukasa.memories.list({}).all()).map((one) => one.content))
    .toContain("User works nights as a nurse.");
  const [memory] = await lukasa.memories.list({}).all();
  await open(page, `/sources?memory=${memory?.id}`);
  await expect(page.getByText("This text is not stored.")).toBeVisible();
  await open(page, "/sources?session=brief");
  await expect(page.getByText("Message 1: This text is not stored.")).toBeVisible();
  await axe(page);
  await screens(page, "sources-not-kept");
});

test("chat list: search, delete with undo, restore", async ({ page, lukasa }) => {
  await live(lukasa);
  await open(page, "/sources?view=chats");
  await expect(page.getByRole("heading", { name: "Today" })).toBeVisible();
  await axe(page);
  await screens(page, "sources-chats");
  await page.keyboard.press("/");
  await page.keyboard.type("tax residence");
  await expect(page.getByRole("link", { name: /Tax question/ })).toBeVisible();
  await expect(page.getByRole("link", { name: /A weekend in Porto/ })).toHaveCount(0);
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "Delete ‘A weekend in Porto’" }).click();
  await expect(page.getByRole("link", { name: /A weekend in Porto/ })).toHaveCount(0);
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("link", { name: /A weekend in Porto/ })).toBeVisible();
  await page.getByRole("button", { name: "Delete ‘A weekend in Porto’" }).click();
  await page.getByRole("tab", { name: "Deleted chats" }).click();
  await page.getByRole("button", { name: "Restore ‘A weekend in Porto’" }).click();
  await expect(page.getByRole("heading", { name: "The trash is empty" })).toBeVisible();
});

test("hostile text is rendered as text in sources", async ({ page, lukasa }) => {
  const evil = `<img src=x onerror="document.title='owned'"> [click](javascript:alert(1))`;
  await lukasa.sessions.append("evil", [
    { role: "user", content: `${evil} I like my answers short` },
  ]);
  await lukasa.sessions.edit("evil", { title: evil });
  const memory = await lukasa.memories.save({ content: evil });
  await open(page, "/sources?session=evil");
  await expect(page.getByRole("article")).toContainText("<img src=x");
  await open(page, `/sources?memory=${memory.memory?.id}`);
  await expect(page.getByRole("heading", { level: 2 }).first()).toContainText("<img src=x");
  await expect(page.locator("main img, main a[href^=javascript]")).toHaveCount(0);
  await expect(page).toHaveTitle("Profile · Lukasa");
});

for (const language of ["de", "xx-RTL"]) {
  test(`sources in another language: ${language}`, async ({ page, lukasa }) => {
    const { answer } = await live(lukasa);
    await page.addInitScript(
      (chosen) => localStorage.setItem("lukasa.preferences", JSON.stringify({ language: chosen })),
      language,
    );
    for (const [name, path] of [
      ["chat", "/sources?session=tax&turn=1"],
      ["why", `/sources?session=dinner&turn=${answer}&why=true`],
      ["review", "/review"],
    ] as const) {
      await open(page, path);
      await expect(page.locator("main mark").first()).toBeVisible();
      await axe(page);
      await screens(page, `${name}-${language}`);
    }
  });
}

test("empty state of sources", async ({ page }) => {
  await open(page, "/sources");
  await expect(page.getByRole("heading", { name: "Nothing is known about you yet" })).toBeVisible();
  await axe(page);
  await screens(page, "sources-empty");
});

test("hidden title of a chat is shown to the user on request", async ({ page, lukasa }) => {
  await lukasa.sessions.append("talk", [{ role: "user", content: "I like trains." }]);
  await lukasa.sessions.edit("talk", { title: "My diabetes" });
  await open(page, "/sources?session=talk");
  const title = page.getByRole("heading", { level: 2 }).first();
  await expect(title).toContainText("Hidden title (Health)");
  await axe(page);
  await page.getByRole("button", { name: "Show the title" }).click();
  await expect(title).toHaveText("My diabetes");

  await open(page, "/chat/talk");
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText("Hidden title (Health)");
  await page.getByRole("button", { name: "Show the title" }).click();
  await expect(heading).toHaveText("My diabetes");
  // The list of chats beside it keeps it hidden.
  const chats = page.getByRole("navigation", { name: "Chats" }).first();
  await expect(chats).toContainText("Hidden title (Health)");
  await expect(chats).not.toContainText("diabetes");
  // Renamed, and the undo brings the title itself back, not its placeholder.
  await page.keyboard.press("Escape");
  const renamed = async () => (await lukasa.sessions.get("talk", { show_hidden: true })).title;
  await chats.getByRole("link", { name: "Hidden title (Health)" }).focus();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "New name of the chat" }).fill("Trains");
  await page.keyboard.press("Enter");
  await expect.poll(renamed).toBe("Trains");
  await page.getByRole("button", { name: /^Undo/ }).click();
  await expect.poll(renamed).toBe("My diabetes");
});

test("hidden turn shows that its area is off, never the placeholder", async ({ page, lukasa }) => {
  await lukasa.sessions.append("talk", [
    { role: "user", content: "What do you know about me?" },
    { role: "assistant", content: "You have diabetes." },
  ]);
  for (const path of ["/sources?session=talk&turn=2", "/sources?session=talk&turn=2&why=true"]) {
    await open(page, path);
    await expect(page.getByText("Hidden: it is about Health, which is off.").first()).toBeVisible();
    await expect(page.getByRole("main")).not.toContainText("[hidden:");
    await expect(page.getByRole("main")).not.toContainText("diabetes");
  }
});

test("long chat lists every message, and renders those in view", async ({ page, lukasa }) => {
  test.setTimeout(180_000);
  const LAST = 2_100;
  const PER_REQUEST = 100;
  const turns = Array.from({ length: LAST }, (_, at) => ({
    role: "user" as const,
    content: `Note ${at + 1} of a long chat`,
  }));
  for (let from = 0; from < LAST; from += PER_REQUEST) {
    await lukasa.sessions.append("long", turns.slice(from, from + PER_REQUEST));
  }
  await open(page, `/sources?session=long&turn=${LAST}`);
  const message = (number: number) =>
    page.getByRole("article", {
      name: `Message ${number.toLocaleString("en")}`,
      exact: true,
    });
  const last = message(LAST);
  // All of its messages are read first.
  await expect(last).toBeFocused({ timeout: 30_000 });
  await expect(last).toBeInViewport();
  await expect(last).toContainText(`Note ${LAST} of a long chat`);
  expect(await page.getByRole("article").count()).toBeLessThan(120);
  await page.keyboard.press("k");
  await expect(message(LAST - 1)).toBeFocused();
});

test("chats after the first page are listed on request, here and in the chat", async ({
  page,
  lukasa,
}) => {
  const items = Array.from({ length: 205 }, (_, at) =>
    JSON.stringify({
      item: "chat",
      source: `c-${at}`,
      title: `Chat number ${at}`,
      before: 0,
      turns: [
        {
          role: "user",
          content: `Question ${at}`,
          said_at: new Date(Date.UTC(2024, 0, 1) + at * 3_600_000).toISOString(),
        },
      ],
      last: true,
    }),
  );
  for (const part of [items.slice(0, 150), items.slice(150)]) {
    await lukasa.imports.create(part.join("\n"), { source: "many-chats" });
  }
  await open(page, "/sources?view=chats");
  await expect(page.getByRole("link", { name: /Chat number 204\b/ })).toBeVisible();
  const oldest = page.getByRole("link", { name: /Chat number 0\b/ });
  await expect(oldest).toHaveCount(0);
  const older = page.getByRole("button", { name: "Show older chats" });
  await older.click();
  await expect(oldest).toBeAttached();
  await expect(older).toHaveCount(0);
  await page.getByRole("button", { name: "Delete ‘Chat number 0’" }).click();
  await expect(oldest).toHaveCount(0);
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(oldest).toBeAttached();
  await page.goto("/chat");
  const side = page.getByRole("complementary", { name: "Chats" });
  await expect(side.getByRole("link", { name: "Chat number 204" })).toBeVisible();
});
