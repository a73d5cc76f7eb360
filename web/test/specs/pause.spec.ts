import { axe, expect, open, test } from "../fixture.ts";

test("memory is paused on its page and resumed from the banner", async ({ page, lukasa }) => {
  await lukasa.memories.save("Drinks oolong in the morning");
  await open(page, "/memory");
  await page.getByRole("button", { name: "Pause memory" }).click();
  const banner = page.getByRole("status").filter({ hasText: "Memory is paused." });
  await expect(banner).toBeVisible();
  await axe(page);
  const ask = { query: "What do I drink in the morning?" };
  expect((await lukasa.memories.retrieve(ask)).context).toBe("");
  // Every page shows it, and the user can still write.
  await open(page, "/review");
  await expect(banner).toBeVisible();
  await open(page, "/memory");
  await lukasa.memories.save("Keeps a cat");
  await expect(page.getByText("Keeps a cat")).toBeVisible();
  await banner.getByRole("button", { name: "Resume" }).click();
  await expect(banner).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Pause memory" })).toBeVisible();
  expect((await lukasa.memories.retrieve(ask)).context).toContain("oolong");
});

test("memory is paused and resumed in the account menu", async ({ page, lukasa }) => {
  await open(page, "/chat");
  const menu = page.getByRole("button", { name: "Your account" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Pause memory" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Memory is paused." })).toBeVisible();
  await expect.poll(async () => (await lukasa.policy.get()).user).toEqual({ paused: true });
  await menu.click();
  await page.getByRole("menuitem", { name: "Resume memory" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Memory is paused." })).toHaveCount(0);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("account menu pauses memory, without an icon in the header", async ({ page, lukasa }) => {
    await lukasa.memories.save("Drinks oolong in the morning");
    await open(page, "/memory");
    await expect(page.getByRole("button", { name: "What the assistant sees" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Pause memory" })).toHaveCount(0);
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Pause memory" }).click();
    await expect.poll(async () => (await lukasa.policy.get()).user).toEqual({ paused: true });
  });
});

test("memory is paused in the settings, and another preset does not resume it", async ({
  page,
  lukasa,
}) => {
  await open(page, "/settings");
  await page.getByRole("switch", { name: "Pause memory" }).click();
  const banner = page.getByRole("status").filter({ hasText: "Memory is paused." });
  await expect(banner).toBeVisible();
  await page.getByRole("radio", { name: /^Ask me first/ }).click();
  await expect
    .poll(async () => (await lukasa.policy.get()).user)
    .toEqual({ preset: "assistant", paused: true });
  await page.getByRole("switch", { name: "Pause memory" }).click();
  await expect(banner).toHaveCount(0);
});
