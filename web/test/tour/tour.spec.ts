/**
 * Takes the screenshots of `docs/console.md` from the real product: `web/run-tests --tour FOLDER`. The data
 * is seeded through the API and in chats by `past.spec.ts`.
 */
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { answered, say } from "../chat.ts";
import { expect, open, test } from "../fixture.ts";

const FOLDER = process.env.LUKASA_TOUR ?? ".";

test.use({ user: "alma" });
test.setTimeout(180_000);

async function screenshot(page: Page, name: string): Promise<void> {
  // Wait for data that is fetched when it scrolls into view.
  await page.waitForTimeout(600);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), scale: "css" });
}

test("tour screenshots", async ({ page, lukasa, allowed }) => {
  allowed.push(/404/);
  const home = (await lukasa.memories.list({ search: "Lives in Lisbon" }).all())[0]?.id ?? "";
  const answer = (await lukasa.sessions.turns("dinner").all()).at(-1)?.number ?? 0;

  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await screenshot(page, "memory");
  await open(page, `/memory?one=${home}&tab=history`);
  await screenshot(page, "history");
  await open(page, "/memory?view=board");
  await screenshot(page, "board");
  await open(page, "/memory?view=shape");
  await screenshot(page, "shape");

  await open(page, "/chat");
  await say(page, "Remember that I want to retire at age 55");
  await answered(page);
  await say(page, "When do I want to retire?");
  await answered(page);
  await screenshot(page, "chat");

  await open(page, `/sources?session=dinner&turn=${answer}&why=true`);
  await screenshot(page, "why");
  await open(page, "/review");
  await screenshot(page, "review");
  await open(page, "/playground?query=Book%20a%20table%20for%20Friday%2C%20as%20I%20like%20it");
  await page.keyboard.press("Enter");
  await screenshot(page, "playground");
  await open(page, "/insights");
  await screenshot(page, "insights");
  await open(page, "/settings");
  await screenshot(page, "settings");

  // An empty memory, of another user.
  const other = await page.context().newPage();
  await other.addInitScript(() => sessionStorage.setItem("lukasa.user", "new"));
  await open(other, "/memory");
  await screenshot(other, "start");
  await other.close();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await screenshot(page, "memory-phone");
  await open(page, "/review");
  await screenshot(page, "review-phone");
  await open(page, "/chat");
  await screenshot(page, "chat-phone");
});
