import { axe, expect, open, screens, test } from "../fixture.ts";
import { learn } from "../life.ts";

// The tests first let the server learn from a real chat, which takes time.
test.describe.configure({ timeout: 90_000 });

test("left-out sentence is listed in its chat and kept with one click", async ({
  page,
  lukasa,
  allowed,
}) => {
  // The memory that was kept is requested once more after its undo and answers 404.
  allowed.push(/404.*\/api\/memory\/mem_/);
  await lukasa.policy.put({ admission: "off", titles: false });
  await lukasa.sessions.append("friday", [
    { role: "user", content: "Hello. I fly to Porto every other Friday. Is it raining there?" },
  ]);
  await open(page, "/sources?session=friday");
  await expect(page.getByText("Lukasa learns from this chat when it pauses.")).toBeVisible();
  await learn(lukasa, "friday");
  await page.reload();
  await expect(page.getByText("0 learned, 0 waiting for you, 1 left out")).toBeVisible();
  const left = page.getByRole("region", { name: "Said, and not saved" });
  await expect(left).toContainText("I fly to Porto every other Friday.");
  await expect(left).toContainText("Learning of it is switched off.");
  await axe(page);
  await screens(page, "sources-left-out");
  expect(await lukasa.memories.list({}).all()).toHaveLength(0);
  await left.getByRole("button", { name: "Keep it" }).click();
  await expect(left.getByText("kept", { exact: true })).toBeVisible();
  const kept = await lukasa.memories.list({}).all();
  expect(kept.map((one) => one.content)).toEqual(["I fly to Porto every other Friday."]);
  await page.keyboard.press("z");
  await expect(left.getByRole("button", { name: "Keep it" })).toBeVisible();
  expect(await lukasa.memories.list({}).all()).toHaveLength(0);
});

test("left-out sentence about an area that is off is not shown", async ({ page, lukasa }) => {
  await lukasa.policy.put({ titles: false });
  await lukasa.sessions.append("doctor", [
    { role: "user", content: "I was diagnosed with type 2 diabetes last week." },
  ]);
  await learn(lukasa, "doctor");
  await open(page, "/sources?session=doctor");
  const left = page.getByRole("region", { name: "Said, and not saved" });
  await expect(left).toContainText("Its area is off.");
  await expect(left).not.toContainText("diabetes");
  await expect(left.getByRole("button", { name: "Keep it" })).toHaveCount(0);
});
