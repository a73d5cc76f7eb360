import { expect, open, seedMany, test } from "../fixture.ts";

test("ten thousand memories load by themselves, and the page answers meanwhile", async ({
  page,
  quipu,
}) => {
  test.setTimeout(180_000);
  await seedMany(quipu, 10_000);
  const began = Date.now();
  await open(page, "/memory");
  await expect(page.getByText(/^Fact \d+ about/).first()).toBeVisible();
  const first = Date.now() - began;
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("10,000 memories", { exact: true })).toBeVisible({ timeout: 60_000 });
  const all = Date.now() - began;
  console.log(`10,000 memories: the first after ${first} ms, all after ${all} ms`);
  expect(first).toBeLessThan(5_000);
});
