/**
 * The pictures of `docs/console.md`, taken from the real product: `web/run-tests --tour FOLDER`. Somebody's
 * small life has been told through the API and in chats (`past.spec.ts`), and every page is photographed as
 * it then is.
 */
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { answered, say } from "../chat.ts";
import { expect, open, test } from "../fixture.ts";

const FOLDER = process.env.LUKASA_TOUR ?? ".";

test.use({ user: "alma" });
test.setTimeout(180_000);

async function picture(page: Page, name: string): Promise<void> {
  // What is fetched when something comes into sight is there by now.
  await page.waitForTimeout(600);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), scale: "css" });
}

test("the tour", async ({ page, lukasa, allowed }) => {
  allowed.push(/404/);
  const home = (await lukasa.memories.list({ search: "Lives in Lisbon" }).all())[0]?.id ?? "";
  const answer = (await lukasa.sessions.turns("dinner").all()).at(-1)?.number ?? 0;

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
