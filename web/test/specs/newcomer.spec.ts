/**
 * The first minutes of a new user, from an empty memory to a corrected answer, in the browser alone: once with
 * the keyboard, once with fingers. `run-tests --tour` saves the steps as pictures of the documentation.
 */
import type { Locator, Page } from "@playwright/test";
import { expect, open, test } from "../fixture.ts";
import { picture } from "../picture.ts";
import { zipOf } from "../zip.ts";

const MAX_MS = 180_000;
const MAX_TABS = 120;

/** How the user acts: on a control, and by writing into a field. */
interface InputMethod {
  /** The start of the names of the pictures. */
  name: string;
  press: (control: Locator) => Promise<void>;
  write: (field: Locator, text: string) => Promise<void>;
  /** Writes in place of what the field contains. */
  replace: (field: Locator, text: string) => Promise<void>;
  /** Opens a page of the navigation. */
  goTo: (page: string) => Promise<void>;
}

function keyboard(page: Page): InputMethod {
  const focus = async (control: Locator) => {
    await expect(control).toBeVisible();
    for (let tabs = 0; tabs < MAX_TABS; tabs++) {
      if (await control.evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach ${control}`);
  };
  return {
    name: "first",
    press: async (control) => {
      await focus(control);
      await page.keyboard.press("Enter");
    },
    write: async (field, text) => {
      await focus(field);
      await page.keyboard.insertText(text);
    },
    replace: async (field, text) => {
      await focus(field);
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.insertText(text);
    },
    goTo: async (name) => {
      await page.keyboard.press("ControlOrMeta+k");
      await expect(page.getByRole("dialog")).toBeVisible();
      await page.keyboard.type(name);
      await expect(page.getByRole("option").first()).toContainText(name);
      await page.keyboard.press("Enter");
    },
  };
}

function fingers(page: Page): InputMethod {
  return {
    name: "first-phone",
    press: (control) => control.tap(),
    write: async (field, text) => {
      await field.tap();
      await page.keyboard.insertText(text);
    },
    replace: async (field, text) => {
      await field.tap();
      await field.selectText();
      await page.keyboard.insertText(text);
    },
    goTo: async (name) => {
      await page.getByRole("navigation", { name: "Main pages" }).getByText("Menu").tap();
      await page.getByRole("dialog").getByRole("link", { name }).tap();
    },
  };
}

const EXPORT = {
  name: "claude-export.zip",
  mimeType: "application/zip",
  buffer: Buffer.from(
    zipOf([
      {
        name: "conversations.json",
        content: JSON.stringify([
          {
            uuid: "u-1",
            name: "Bread without yeast",
            created_at: "2026-05-01T10:00:00Z",
            chat_messages: [
              { sender: "human", text: "How long does rye dough rest?" },
              { sender: "assistant", text: "About twelve hours." },
            ],
          },
        ]),
      },
      {
        name: "memories.json",
        content: JSON.stringify([
          {
            conversations_memory:
              "**Home**\n- Bakes rye bread on Sundays\n- Keeps bees on the roof\n- Plays the cello",
          },
        ]),
      },
    ]),
  ),
};

/** A memory that an assistant saves through MCP, as Claude Desktop would after it was connected. */
async function assistantSaves(url: string, user: string, content: string): Promise<void> {
  const version = "2026-07-28";
  const meta = "io.modelcontextprotocol";
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "X-Lukasa-User": user,
      "MCP-Protocol-Version": version,
      "Mcp-Method": "tools/call",
      "Mcp-Name": "save_memory",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "save_memory",
        arguments: { content },
        _meta: {
          [`${meta}/protocolVersion`]: version,
          [`${meta}/clientInfo`]: { name: "claude", version: "1" },
          [`${meta}/clientCapabilities`]: {},
        },
      },
    }),
  });
  expect(await response.text()).toContain("Saved");
}

async function firstMinutes(
  page: Page,
  input: InputMethod,
  url: string,
  user: string,
): Promise<void> {
  await open(page, "/memory");
  const question = page.getByRole("textbox", { name: "Tell me something about yourself" });
  await expect(question).toBeVisible();
  await picture(page, `${input.name}-1-empty`);

  await input.write(
    page.getByRole("textbox", { name: "Pasted facts" }),
    "- I live in Lyon with two cats\n- I am vegetarian\n- I work as a nurse, mostly nights\n- I like short answers",
  );
  await expect(page.getByRole("region", { name: "4 facts found" })).toBeVisible();
  await page.getByRole("button", { name: "Save 4 memories" }).scrollIntoViewIfNeeded();
  await picture(page, `${input.name}-2-pasted`);
  await input.press(page.getByRole("button", { name: "Save 4 memories" }));
  await expect(page.getByRole("list", { name: "What was saved" })).toContainText("two cats");
  await input.press(page.getByRole("button", { name: "Done" }));
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("two cats");

  await input.goTo("Import & export");
  const chooser = page.waitForEvent("filechooser");
  await input.press(page.getByRole("button", { name: "Choose a file" }));
  await (await chooser).setFiles(EXPORT);
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview).toContainText("Keeps bees on the roof");
  await input.press(preview.getByRole("button", { name: "Import now" }));
  const keep = page.getByRole("button", { name: "Keep all 3" });
  await expect(keep).toBeVisible();
  await picture(page, `${input.name}-3-imported`);
  await input.press(keep);
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("Keeps bees");

  await input.goTo("Settings");
  const tab = page.getByRole("tab", { name: "Assistants" });
  await expect(tab).toBeVisible();
  if (input.name === "first") {
    await page.getByRole("tab", { name: "Remembering" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
  } else await input.press(tab);
  const card = page.getByRole("listitem").filter({ hasText: "Claude Desktop" });
  await input.press(card.getByRole("button", { name: "Copy" }));
  await assistantSaves(url, user, "Is training for a half marathon in April");
  await expect(page.getByText("Connected: an assistant saved a memory")).toBeVisible({
    timeout: 15_000,
  });
  await picture(page, `${input.name}-4-connected`);

  await input.goTo("Chat");
  const message = page.getByRole("textbox", { name: "Message" });
  const send = page.getByRole("button", { name: "Send" });
  await input.write(message, "Where do I live?");
  await input.press(send);
  const cited = page.getByRole("link", { name: /memory/ }).first();
  await expect(cited).toBeVisible();
  await expect(send).toBeVisible();
  await picture(page, `${input.name}-5-answer`);

  // From the answer to the memory behind it, and the memory is corrected there.
  await input.press(cited);
  await input.press(page.getByRole("button", { name: /^Correct/ }));
  await input.replace(
    page.getByRole("textbox", { name: "What it says" }),
    "I live in Lyon with three cats",
  );
  await input.press(page.getByRole("button", { name: /^Save/ }));
  const history = page.getByRole("region", { name: "History" });
  await expect(history.locator("ins")).toHaveText("three");
  await picture(page, `${input.name}-6-corrected`);
}

/** Runs the first minutes, and checks that they are at most three. */
async function timed(page: Page, input: InputMethod, url: string, user: string): Promise<void> {
  const began = Date.now();
  await firstMinutes(page, input, url, user);
  const took = Date.now() - began;
  console.log(`${input.name}: from the empty memory to the corrected answer in ${took} ms`);
  expect(took).toBeLessThan(MAX_MS);
}

/** The pictures show a name. */
const inTour = Boolean(process.env.LUKASA_TOUR);

test.describe("keyboard", () => {
  if (inTour) test.use({ user: "paula" });
  test.use({ permissions: ["clipboard-read", "clipboard-write"] });

  test("new user's first minutes, by keyboard alone", async ({ page, baseURL, user }) => {
    test.setTimeout(2 * MAX_MS);
    await timed(page, keyboard(page), baseURL ?? "", user);
  });
});

test.describe("touch", () => {
  if (inTour) test.use({ user: "tom" });
  test.use({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });

  test("new user's first minutes, by touch alone", async ({ page, baseURL, user }) => {
    test.setTimeout(2 * MAX_MS);
    await timed(page, fingers(page), baseURL ?? "", user);
  });
});
