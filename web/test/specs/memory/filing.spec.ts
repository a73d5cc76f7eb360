import { axe, expect, open, screens, seed, test } from "../../fixture.ts";

const SORTED = [
  { content: "Bakes bread on Sundays", domain: "food" },
  "Prefers window seats on planes",
  "Lives in Lisbon",
  "Learns Portuguese, level B1",
  "Likes it that way",
  "Has a sister called Ana who lives in Porto",
];

test("memories without an area are sorted at once, and undone at once", async ({
  page,
  lukasa,
}) => {
  await seed(lukasa, SORTED);
  await open(page, "/memory");
  const list = page.getByRole("list", { name: "Memory" });
  const count = (area: string) =>
    list.getByRole("listitem").filter({ has: page.getByRole("heading", { name: area }) });
  await expect(count("No area")).toContainText("5");
  await list.getByRole("button", { name: "Suggest areas" }).click();
  const dialog = page.getByRole("dialog", { name: "Sort memories into areas" });
  const area = (of: string) => dialog.getByRole("combobox", { name: `Area of “${of}` });
  await expect(area("Lives in Lisbon")).toHaveText("Personal");
  await expect(area("Prefers window seats")).toHaveText("Travel");
  await expect(area("Likes it that way")).toHaveText("No area");
  // An area that is off is named, and suggested for no memory.
  await expect(area("Has a sister")).toHaveText("No area");
  await expect(dialog).toContainText("Relationships");
  await axe(page);
  await screens(page, "memory-filing");
  // One is left out, and one is filed elsewhere.
  await dialog.getByRole("checkbox", { name: "Lives in Lisbon" }).click();
  await area("Learns Portuguese").click();
  await expect(page.getByRole("option", { name: "Relationships" })).toHaveCount(0);
  await page.getByRole("option", { name: "Work" }).click();
  await area("Likes it that way").click();
  await page.getByRole("option", { name: "Shopping" }).click();
  await dialog.getByRole("button", { name: "Sort 3 memories" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(count("Work")).toContainText("1");
  await expect(count("Shopping")).toContainText("1");
  await expect(count("No area")).toContainText("2");
  const domains = async () => {
    const all = await lukasa.memories.list({}).all();
    return new Map(all.map((one) => [one.content.split(" ", 1)[0], one.domain ?? ""]));
  };
  await expect.poll(async () => (await domains()).get("Learns")).toBe("work");
  expect((await domains()).get("Lives")).toBe("");
  const log = await lukasa.operations.list({ limit: 5 }).page();
  expect(log.data[0]?.memory_ids).toHaveLength(3);
  await page.keyboard.press("z");
  await expect(count("No area")).toContainText("5");
  await expect.poll(async () => (await domains()).get("Learns")).toBe("");
});

test("areas are suggested on the board, by keyboard", async ({ page, lukasa }) => {
  await seed(lukasa, SORTED);
  await open(page, "/memory?view=board");
  const column = page.getByRole("region", { name: "No area" });
  await column.getByRole("button", { name: "Suggest areas" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Sort memories into areas" });
  await dialog.getByRole("button", { name: "Sort 3 memories" }).focus();
  await page.keyboard.press("Enter");
  const personal = page.getByRole("region", { name: "Personal" });
  await expect(personal.getByText("Lives in Lisbon")).toBeVisible();
  await axe(page);
});

test("moving a selection is one operation and keeps who said it", async ({ page, lukasa }) => {
  await lukasa.imports.create(
    JSON.stringify({ item: "memory", source: "a", content: "Owns a boat" }),
    { source: "boat" },
  );
  await seed(lukasa, ["Sails on Sundays"]);
  await open(page, "/memory");
  await page.getByRole("button", { name: "Owns a boat" }).focus();
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Select all 2" }).click();
  await page.getByRole("button", { name: "Move" }).click();
  await page.getByRole("menuitem", { name: "Travel" }).click();
  const boat = async () =>
    (await lukasa.memories.list({}).all()).find((one) => one.content === "Owns a boat");
  await expect.poll(async () => (await boat())?.domain).toBe("travel");
  expect((await boat())?.origin).toBe("import");
  const log = await lukasa.operations.list({ limit: 5 }).page();
  expect(log.data[0]?.memory_ids).toHaveLength(2);
});
