import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Lukasa } from "lukasa-client";
import { axe, expect, open, SOME, screens, seed, test } from "../fixture.ts";

test("export and import of a whole memory", async ({ page, lukasa, user, baseURL, allowed }) => {
  // The store reads the memories that an event names; removed ones answer 404.
  test.slow();
  allowed.push(/404/);
  await seed(lukasa, SOME);
  await open(page, "/data?tab=export");
  await expect(page.getByText(/Now: 6 memories/)).toBeVisible();
  await axe(page);
  const downloading = page.waitForEvent("download");
  await page.keyboard.press("e");
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^lukasa-\d{4}-\d\d-\d\d\.zip$/);
  const file = join(mkdtempSync(join(tmpdir(), "lukasa-")), download.suggestedFilename());
  await download.saveAs(file);
  await expect(page.getByText(/Saved as lukasa-.*\.zip, \d+ kB/)).toBeVisible();
  expect(readFileSync(file).subarray(0, 2).toString()).toBe("PK");

  // Into another, empty memory: preview, import, undo.
  const other = new Lukasa({ url: baseURL, user: `${user}-new` });
  await other.signIn.get();
  await page.evaluate((name) => sessionStorage.setItem("lukasa.user", name), `${user}-new`);
  await page.addInitScript((name) => sessionStorage.setItem("lukasa.user", name), `${user}-new`);
  await open(page, "/data");
  await page.getByLabel("Choose a file").setInputFiles(file);
  const preview = page.getByRole("region", { name: "Preview" });
  // A hard rule from another user's archive becomes a proposal.
  await expect(preview).toContainText("5 new memories");
  await expect(preview).toContainText("1 suggestion for you to confirm");
  expect(await other.memories.list().all()).toHaveLength(0);
  await screens(page, "data-import");
  await preview.getByRole("button", { name: "Import now" }).click();
  await expect(page.getByRole("status").getByText("Imported")).toBeVisible();
  expect(await other.memories.list().all()).toHaveLength(5);
  await expect(page).toHaveURL(/\/reveal/);
  await open(page, "/data");
  const list = page.getByRole("region", { name: "Imports so far" });
  await list.getByRole("button", { name: "Undo" }).click();
  await expect(list.getByText("undone", { exact: true })).toBeVisible();
  expect(await other.memories.list().all()).toHaveLength(0);
});

test("import of JSON lines, and the error for an unreadable file", async ({
  page,
  lukasa,
  allowed,
}) => {
  allowed.push(/400|422/);
  await open(page, "/data");
  const pick = page.getByLabel("Choose a file");
  const items = [
    { item: "memory", source: "1", content: "Keeps bees on the roof" },
    { item: "memory", source: "2", content: "Bakes bread on Sundays" },
  ];
  await pick.setInputFiles({
    name: "notes.jsonl",
    mimeType: "application/jsonl",
    buffer: Buffer.from(items.map((item) => JSON.stringify(item)).join("\n")),
  });
  await expect(page.getByText("2 new memories")).toBeVisible();
  await page.getByRole("button", { name: "Import now" }).click();
  await expect.poll(async () => (await lukasa.memories.list().all()).length).toBe(2);
  await expect(page).toHaveURL(/\/reveal/);
  await open(page, "/data");
  await pick.setInputFiles({
    name: "broken.jsonl",
    mimeType: "application/jsonl",
    buffer: Buffer.from("not a line of JSON"),
  });
  await expect(page.getByRole("alert")).toBeVisible();
});

test("imported memories wait for one decision, which is undone", async ({ page, lukasa }) => {
  const said = ["Keeps bees on the roof", "Bakes bread on Sundays", "Plays the cello"];
  const lines = said.map((content, at) =>
    JSON.stringify({ item: "memory", source: String(at), content }),
  );
  await lukasa.imports.create(lines.join("\n"), { name: "notes.jsonl" });
  const waiting = async () => (await lukasa.imports.list())[0]?.undecided;
  expect(await waiting()).toBe(3);
  await open(page, "/data");
  const list = page.getByRole("region", { name: "Imports so far" });
  await expect(list).toContainText("3 memories are not used by your assistants yet");
  await screens(page, "data-decision");
  await expect(list.getByRole("link", { name: "Choose…" })).toBeVisible();
  await list.getByRole("button", { name: "Use all" }).click();
  await expect(list.getByText("not used by your assistants yet")).toHaveCount(0);
  expect(await waiting()).toBe(0);
  await page.keyboard.press("z");
  await expect.poll(waiting).toBe(3);
  await expect(list).toContainText("3 memories are not used by your assistants yet");
});

test("activity is listed, filtered, and undone by keyboard", async ({ page, lukasa }) => {
  const [first] = await seed(lukasa, SOME);
  await lukasa.memories.forget(first?.memory?.id ?? "");
  await open(page, "/activity");
  const list = page.getByRole("list", { name: "Activity" });
  await expect(list.getByRole("listitem")).toHaveCount(7);
  await expect(list.getByRole("listitem").first()).toContainText("Forgot");
  await expect(list.getByRole("listitem").first()).toContainText("Prefers window seats");
  await axe(page);
  await screens(page, "activity-list");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await expect(list.getByRole("listitem").first()).toBeFocused();
  await page.keyboard.press("u");
  await expect(list.getByRole("listitem").filter({ hasText: /Undone/ })).toHaveCount(1);
  await expect(list.getByText("undone", { exact: true })).toBeVisible();
  expect((await lukasa.memories.get(first?.memory?.id ?? "")).status).toBe("active");
  await page.getByRole("combobox", { name: "What was done" }).click();
  await page.getByRole("option", { name: "Forgot" }).click();
  await expect(page).toHaveURL(/verb=forget/);
  await expect(list.getByRole("listitem")).toHaveCount(1);
});

test("erasing one memory asks for a word and gives a verifiable receipt", async ({
  page,
  lukasa,
  allowed,
}) => {
  // Several axe runs take long on a busy machine.
  test.slow();
  allowed.push(/404/);
  await seed(lukasa, SOME);
  await open(page, "/data?tab=erase");
  await page.getByLabel("Find it by its words").fill("window");
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("1 memory");
  const act = dialog.getByRole("button", { name: "Erase" });
  await expect(act).toBeDisabled();
  await dialog.getByLabel(/Type “erase”/).fill("erased");
  await expect(act).toBeDisabled();
  await dialog.getByLabel(/Type “erase”/).fill("erase");
  await axe(page);
  await screens(page, "data-erase-one");
  await page.keyboard.press("Enter");
  const receipt = page.getByRole("article");
  await expect(receipt).toContainText("A memory");
  await expect(receipt).toContainText("checked in this browser");
  expect(await lukasa.memories.list({ status: "all" }).all()).toHaveLength(5);
  const downloading = page.waitForEvent("download");
  await receipt.getByRole("button", { name: "Receipt" }).click();
  const file = await (await downloading).path();
  await receipt.getByText("What could not be removed").click();
  await axe(page);
  await screens(page, "data-receipt");
  const command = (await receipt.locator("pre").textContent()) ?? "";
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("article")).toContainText("A memory");
  const key = /--public-key ([0-9a-f]{64})$/.exec(command)?.[1] ?? "";
  const bin = process.env.LUKASA_TEST_BIN;
  if (bin) {
    const verify = (path: string) =>
      execFileSync(bin, ["erase", "--verify", path, "--public-key", key], { stdio: "pipe" });
    verify(file);
    const forged = `${file}-forged`;
    writeFileSync(forged, readFileSync(file, "utf8").replace('"fact": 1', '"fact": 2'));
    expect(() => verify(forged)).toThrow();
  }
});

test("tampered receipt is reported as invalid", async ({ page, lukasa }) => {
  const [saved] = await seed(lukasa, ["Plays the cello"]);
  await lukasa.memories.erase(saved?.memory?.id ?? "");
  await page.route("**/api/erasures", async (route) => {
    const answer = await (await route.fetch()).json();
    answer.data[0].receipt.removed.fact = 7;
    await route.fulfill({ json: answer });
  });
  await open(page, "/data?tab=erase");
  await expect(page.getByRole("article")).toContainText("do not rely on this receipt");
});

test("erasing a user asks for the id, and the user can start again", async ({
  page,
  lukasa,
  user,
}) => {
  test.slow();
  await seed(lukasa, SOME);
  await lukasa.sessions.append("a-chat", [{ role: "user", content: "Which funds do I hold?" }]);
  await open(page, "/data?tab=erase");
  await page.getByRole("button", { name: "Erase everything" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("6 memories");
  await expect(dialog).toContainText("1 chat");
  await axe(page);
  await screens(page, "data-erase-all");
  await dialog.getByLabel(`Type “${user}”`).fill(user);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Everything is erased" })).toBeVisible();
  await expect(page.getByRole("article")).toContainText("checked in this browser");
  await axe(page);
  await screens(page, "data-gone");
  await expect(lukasa.memories.list().all()).rejects.toThrow();
  await page.getByRole("button", { name: "Start again" }).click();
  await expect(page).toHaveURL(/\/memory$/);
  expect(await lukasa.memories.list().all()).toEqual([]);
});

test.describe("server with sign-in", () => {
  const url = process.env.CONSOLE_KEYS_URL ?? "";
  test.use({ baseURL: url });

  test("user signed in by link sees no shell commands", async ({ page, user, allowed }) => {
    allowed.push(/404/);
    const operator = new Lukasa({ url, key: process.env.CONSOLE_ADMIN_KEY, user });
    const { href } = await operator.signIn.link(user);
    await page.goto(href);
    await expect(
      page.getByRole("heading", { name: "Tell me something about yourself" }),
    ).toBeVisible();
    await expect(
      page.getByRole("textbox", { name: "Tell me something about yourself" }),
    ).toBeVisible();
    await expect(page.locator("pre", { hasText: /curl|lukasa (?:connect|save)/ })).toHaveCount(0);
    await page.goto("/sources");
    await expect(
      page.getByRole("heading", { name: "Nothing is known about you yet" }),
    ).toBeVisible();
    await expect(page.locator("pre")).toHaveCount(0);
  });

  test("user signed in by link erases one memory, then everything", async ({
    page,
    user,
    allowed,
  }) => {
    test.slow();
    allowed.push(/40[134]|410/);
    const operator = new Lukasa({ url, key: process.env.CONSOLE_ADMIN_KEY, user });
    await seed(operator, SOME);
    const { href } = await operator.signIn.link(user);
    await page.goto(href);
    await expect(page).toHaveURL(/\/memory$/);
    await page.goto("/data?tab=erase");
    await page.getByLabel("Find it by its words").fill("sister");
    await page.getByRole("button", { name: "Erase", exact: true }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("erase");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("article")).toContainText("checked in this browser");
    // The rule sent with the operator's key is only a proposal, so there were five memories.
    expect(await operator.memories.list().all()).toHaveLength(4);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

    await page.getByRole("button", { name: "Erase everything" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("5 memories");
    const act = dialog.getByRole("button", { name: "Erase everything" });
    await expect(act).toBeDisabled();
    await dialog.getByLabel(`Type “${user}”`).fill(user);
    await act.click();
    await expect(page.getByRole("heading", { name: "Everything is erased" })).toBeVisible();
    await expect(page.getByRole("article")).toContainText("checked in this browser");
    await expect(page.getByText("You are signed out.")).toBeVisible();
    await axe(page);
    await screens(page, "data-gone-person");
    await expect(operator.memories.list().all()).rejects.toThrow();
    // Nothing of the user is left in this browser: neither the sign-in nor the id.
    await page.reload();
    await expect(page).toHaveURL(/\/sign-in/);
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(stored).not.toContain(user);
  });
});
