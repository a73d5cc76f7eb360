/**
 * Takes the screenshots of `docs/console.md` from the real product: `web/run-tests --tour FOLDER`. The data
 * is seeded through the API and in chats by `past.spec.ts`.
 */
import { answered, say } from "../chat.ts";
import { expect, open, test } from "../fixture.ts";
import { picture } from "../picture.ts";

test.use({ user: "alma" });
test.setTimeout(180_000);

test("tour screenshots", async ({ page, lukasa, allowed }) => {
  allowed.push(/404/);
  const home = (await lukasa.memories.list({ search: "Lives in Lisbon" }).all())[0]?.id ?? "";
  const answer = (await lukasa.sessions.turns("dinner").all()).at(-1)?.number ?? 0;

  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await page.getByRole("button", { name: "Suggest areas" }).click();
  const sorting = page.getByRole("dialog", { name: "Sort memories into areas" });
  await expect(sorting.getByRole("combobox").first()).toBeVisible();
  await picture(page, "sort");
  await sorting.getByRole("button", { name: /^Sort \d+ memories/ }).click();
  await expect(page.getByRole("heading", { name: "Personal" })).toBeVisible();
  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await picture(page, "memory");
  await open(page, `/memory?one=${home}&tab=history`);
  await picture(page, "history");
  await open(page, "/memory?prompt=true");
  const pane = page.getByRole("complementary", { name: "What the assistant sees" });
  await pane.getByRole("button", { name: /^Forget: .*Kobo/ }).click();
  await expect(pane.locator("del")).toBeVisible();
  await picture(page, "prompt");
  await page.keyboard.press("z");
  await expect(pane.locator("del")).toHaveCount(0);
  await open(page, "/memory?view=board");
  await expect(page.getByRole("region", { name: "Travel" })).toBeVisible();
  await picture(page, "board");
  await open(page, "/memory?view=shape");
  await expect(page.getByRole("button", { name: "As a table" })).toBeVisible();
  await picture(page, "shape");

  await open(page, "/chat");
  await say(page, "Remember that I want to retire at age 55");
  await expect(page.getByText("Memory saved")).toBeVisible();
  await answered(page);
  await say(page, "When do I want to retire?");
  await expect(page.getByText("the best first")).toBeVisible();
  await answered(page);
  await picture(page, "chat");

  await open(page, `/sources?session=dinner&turn=${answer}&why=true`);
  await picture(page, "why");
  await open(page, "/review");
  await picture(page, "review");
  await open(page, "/sources");
  await picture(page, "profile");
  await open(page, "/activity");
  await picture(page, "activity");
  await open(page, "/playground?query=Book%20a%20table%20for%20Friday%2C%20as%20I%20like%20it");
  await page.keyboard.press("Enter");
  await picture(page, "playground");
  await open(page, "/insights");
  await picture(page, "insights");
  await open(page, "/settings");
  await picture(page, "settings");

  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await picture(page, "memory-dark");

  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, "/memory");
  await expect(page.getByText("Lives in Lisbon")).toBeVisible();
  await picture(page, "memory-phone");
  await open(page, "/review");
  await picture(page, "review-phone");
  await open(page, "/chat");
  await picture(page, "chat-phone");
});
