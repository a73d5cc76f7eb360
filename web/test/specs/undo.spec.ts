import { axe, expect, open, screens, seed, test } from "../fixture.ts";

test("undo from the toast of a change", async ({ page, lukasa }) => {
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  const id = saved?.memory?.id ?? "";
  await open(page, `/memory/${id}`);
  await page.getByRole("button", { name: "Forget" }).click();
  const messages = page.getByRole("status");
  await expect(messages.getByText("Forgotten")).toBeVisible();
  await expect(page.getByText("forgotten", { exact: true })).toBeVisible();
  expect((await lukasa.memories.get(id)).status).toBe("forgotten");
  await axe(page);
  await screens(page, "undo");
  await messages.getByRole("button", { name: "Undo" }).click();
  await expect(messages.getByText("Undone")).toBeVisible();
  await expect(page.getByRole("button", { name: "Forget" })).toBeVisible();
  expect((await lukasa.memories.get(id)).status).toBe("active");
});

test("undo by Z reverts shortcut actions one after the other", async ({ page, lukasa }) => {
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  const id = saved?.memory?.id ?? "";
  await open(page, `/memory/${id}`);
  await expect(page.getByRole("button", { name: "Confirm" })).toBeVisible();
  await page.keyboard.press("c");
  await expect(page.getByRole("status").getByText("Confirmed")).toBeVisible();
  await page.keyboard.press("d");
  await expect(page.getByText("in the trash", { exact: true })).toBeVisible();
  await page.keyboard.press("z");
  await expect(page.getByRole("button", { name: "Confirm" })).toBeVisible();
  expect((await lukasa.memories.get(id)).status).toBe("active");
  expect((await lukasa.memories.get(id)).last_confirmed_at).toBeTruthy();
  await page.keyboard.press("z");
  await expect.poll(async () => (await lukasa.memories.get(id)).last_confirmed_at).toBeFalsy();
});

test("refused change is reverted on the screen with an error toast", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/503/);
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  await open(page, `/memory/${saved?.memory?.id}`);
  const problem = { code: "busy", title: "Too much at once", status: 500, detail: "", type: "" };
  await page.route("**/forget", (route) =>
    route.fulfill({
      status: 500,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    }),
  );
  allowed.push(/500/);
  await page.getByRole("button", { name: "Forget" }).click();
  const toast = page.getByRole("region", { name: "Messages" });
  await expect(toast).toContainText("Could not forget this: Something went wrong");
  await expect(toast).toContainText("Plays the cello");
  await expect(page.getByRole("button", { name: "Forget" })).toBeVisible();
  await page.unroute("**/forget");
  await toast.getByRole("button", { name: "Try again" }).click();
  await expect(toast).toContainText("Forgotten");
  const [memory] = await lukasa.memories.list({ status: "all" }).all();
  expect(memory?.status).toBe("forgotten");
});

test("Z that finds no change because of an error says so, with the server's advice", async ({
  page,
  lukasa,
  allowed,
}) => {
  // The saved memory is requested once more after its undo and answers 404.
  allowed.push(/500/, /404.*\/api\/memory\/mem_/);
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  await open(page, `/memory/${saved?.memory?.id}`);
  await expect(page.getByRole("button", { name: "Forget" })).toBeVisible();
  const problem = {
    code: "new_code",
    title: "A title",
    status: 500,
    detail: "Look at the log.",
    type: "",
  };
  await page.route("**/api/operations?*", (route) =>
    route.fulfill({
      status: 500,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    }),
  );
  await page.keyboard.press("z");
  const toast = page.getByRole("region", { name: "Messages" });
  await expect(toast).toContainText("Could not undo this: Something went wrong. Look at the log.");
  await page.unroute("**/api/operations?*");
  await toast.getByRole("button", { name: "Try again" }).click();
  await expect(toast).toContainText("Undone");
});

test("toast stays while the pointer is on it", async ({ page, lukasa }) => {
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  await page.clock.install();
  await open(page, `/memory/${saved?.memory?.id}`);
  await page.getByRole("button", { name: "Forget" }).click();
  const message = page.getByRole("status").getByText("Forgotten");
  await expect(message).toBeVisible();
  await message.hover();
  await page.clock.runFor(60_000);
  await expect(message).toBeVisible();
  await page.mouse.move(10, 10);
  await page.clock.runFor(11_000);
  await expect(message).toHaveCount(0);
});

test("change is shown before the server answers", async ({ page, lukasa }) => {
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  await open(page, `/memory/${saved?.memory?.id}`);
  let answer = () => {};
  const released = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/forget", async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Forget" }).click();
  await expect(page.getByText("forgotten", { exact: true })).toBeVisible();
  await expect(page.getByRole("status").getByText("Forgotten")).toHaveCount(0);
  answer();
  await expect(page.getByRole("status").getByText("Forgotten")).toBeVisible();
});
