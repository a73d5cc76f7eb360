/**
 * The pictures of `docs/console.md`, taken from the real product: `web/run-tests --tour FOLDER`. Somebody's
 * small life is told through the API and in chats, and every page is photographed as it then is.
 */
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { answered, say } from "../chat.ts";
import { expect, open, seed, test } from "../fixture.ts";
import { live } from "../life.ts";

const FOLDER = process.env.QUIPU_TOUR ?? ".";

test.use({ user: "alma" });
test.setTimeout(180_000);

async function picture(page: Page, name: string): Promise<void> {
  // What is fetched when something comes into sight is there by now.
  await page.waitForTimeout(600);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), scale: "css" });
}

test("the tour", async ({ page, quipu, allowed }) => {
  allowed.push(/404/);
  const { answer } = await live(quipu);
  const saved = await seed(quipu, [
    { content: "Lives in Berlin", category: "profile", valid_from: "2024-05-01T00:00:00Z" },
    { content: "Likes answers short, with the reason first", category: "style" },
    {
      content: "No meetings before ten",
      force: "hard",
      domain: "schedule",
      key: "earliest",
      value: "10:00",
    },
    {
      content: "Prefers trains over planes, and window seats",
      domain: "travel",
      kind: "preference",
    },
    { content: "Saves for a flat in Graça, at most 320,000 euros", category: "context" },
    { content: "Reads on a Kobo, mostly Portuguese crime novels", kind: "preference" },
    { content: "Has a sister called Ana who lives in Porto", category: "profile" },
    { content: "Swims on Tuesday and Thursday mornings", domain: "schedule", kind: "habit" },
  ]);
  const home = saved[0]?.memory?.id ?? "";
  await quipu.memories.update(home, {
    content: "Lives in Lisbon",
    mode: "change",
    valid_from: "2026-03-01T00:00:00Z",
  });

  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await picture(page, "memory");
  await open(page, `/memory?one=${home}&tab=history`);
  await picture(page, "history");
  await open(page, "/memory?view=board");
  await picture(page, "board");

  await open(page, "/chat");
  await say(page, "Remember that I want to retire at age 55");
  await answered(page);
  await say(page, "When do I want to retire?");
  await answered(page);
  await picture(page, "chat");

  await open(page, `/sources?session=dinner&turn=${answer}&why=true`);
  await picture(page, "why");
  await open(page, "/review");
  await picture(page, "review");
  await open(page, "/playground?query=Book%20a%20table%20for%20Friday%2C%20as%20I%20like%20it");
  await page.keyboard.press("Enter");
  await picture(page, "playground");
  await open(page, "/insights");
  await picture(page, "insights");
  await open(page, "/settings");
  await picture(page, "settings");

  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await picture(page, "memory-phone");
  await open(page, "/review");
  await picture(page, "review-phone");
  await open(page, "/chat");
  await picture(page, "chat-phone");
});
