import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { Lukasa } from "lukasa-client";
import type { Day, Figures } from "../../src/pages/insights/figures.ts";
import { axe, expect, open, SOME, screens, seed, test } from "../fixture.ts";

/** A day of use: memories saved, one confirmed, one corrected, one forgotten, and three retrievals. */
async function use(lukasa: Lukasa): Promise<void> {
  const saved = await seed(lukasa, SOME);
  const id = (at: number) => saved[at]?.memory?.id ?? "";
  await lukasa.memories.confirm(id(0));
  await lukasa.memories.update(id(1), {
    content: "Works as a midwife at the Charité in Berlin",
    mode: "correction",
  });
  await lukasa.memories.forget(id(5));
  for (const query of ["Which seat do I like?", "And where do I work?", "What may I not eat?"]) {
    await lukasa.memories.retrieve({ query, session_id: "monday" });
  }
}

async function figures(lukasa: Lukasa, days: number): Promise<Figures> {
  return (await lukasa.send("GET", "/api/insights", { query: { days } })).json();
}

/** Today's counts, once all three retrievals are in them: they are recorded after the response. */
async function counted(lukasa: Lukasa): Promise<Day> {
  let today: Day | undefined;
  await expect(async () => {
    today = (await figures(lukasa, 7)).days.at(-1);
    expect(today?.retrievals).toBe(3);
  }).toPass();
  if (!today) throw new Error("the insights have no days");
  return today;
}

const chart = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("charts match the counts of the API", async ({ page, lukasa }) => {
  await use(lukasa);
  const today = await counted(lukasa);
  expect(today.saved).toBe(SOME.length);
  expect(today.frozen).toBe(2);
  await open(page, "/insights?days=7&figures=true");
  const { strong, tentative, candidate } = today.memories;
  const known = chart(page, "Memories by certainty").getByRole("slider");
  await expect(known).toHaveAttribute("aria-valuemax", "7");
  await expect(known).toHaveAttribute(
    "aria-valuetext",
    new RegExp(`: certain ${strong}, likely ${tentative}, guess ${candidate}$`),
  );
  await expect(chart(page, "New each day")).toContainText(`saved ${today.saved}`);
  await expect(chart(page, "Reviews")).toContainText(
    `confirmed ${today.confirmed}corrected ${today.corrected}rejected ${today.rejected}forgotten ${today.forgotten}`,
  );
  await expect(chart(page, "Prompt-cache reuse")).toContainText("reused 2rebuilt 1");
  await expect(chart(page, "Retrievals")).toContainText("complete 3degraded 0");
  await expect(chart(page, "Search time")).toContainText(`p95 ${today.recall_ms?.p95} ms`);
  const domains = chart(page, "Top areas").getByRole("listitem");
  await expect(domains.filter({ hasText: "Food and dining" })).toContainText("1");
  await expect(chart(page, "Memories by area")).toContainText("Food and dining 1");
  // Without a chosen day, the legend of what happened is of the whole period, and says so.
  await expect(chart(page, "New each day")).toContainText("Sum of 7 days");
  const head = page.locator("dl").first();
  await expect(head).toContainText(`Memories${strong + tentative}`);
  await expect(head).toContainText("Prompt-cache reuse67%");
});

test("the first part says in plain words what is known, and figures for developers are folded", async ({
  page,
  lukasa,
}) => {
  await use(lukasa);
  const today = await counted(lukasa);
  await open(page, "/insights?days=7");
  const now = today.memories.strong + today.memories.tentative;
  await expect(page.getByText(`Lukasa remembers ${now} things about you`)).toBeVisible();
  await expect(
    page.getByText(
      `In the last 7 days: ${today.saved + today.learned} new, ${today.confirmed} confirmed, ` +
        `${today.corrected} corrected and ${today.forgotten} forgotten.`,
    ),
  ).toBeVisible();
  await expect(
    page.getByRole("img", { name: new RegExp(`0 memories on .*, ${now} on `) }),
  ).toBeVisible();
  const areas = page.getByRole("region", { name: "What it is about" });
  await expect(areas.getByRole("listitem").first()).toContainText("Food and dining1");
  await expect(page.getByText("No answer has used a memory yet.")).toBeVisible();
  await expect(page.getByText("Prompt-cache reuse").first()).toBeHidden();
  await page.getByText("Figures for developers").click();
  await expect(page).toHaveURL(/figures=true/);
  await expect(page.getByText("Prompt-cache reuse").first()).toBeVisible();
  await page.getByText("Figures for developers").click();
  await expect(page).not.toHaveURL(/figures/);

  // What an answer used is counted.
  const window = (await lukasa.memories.list().all()).find((one) => one.content.includes("window"));
  await lukasa.sessions.append("flight", [
    { role: "user", content: "Which seat?" },
    { role: "assistant", content: "A window seat.", used: [window?.id ?? ""] },
  ]);
  await page.reload();
  const used = page.getByRole("region", { name: "Used most in answers" });
  await expect(used.getByRole("listitem")).toContainText(
    "Prefers window seats on long flights1 answer",
  );
});

test("chart table and CSV have the same numbers", async ({ page, lukasa }) => {
  await use(lukasa);
  await counted(lukasa);
  await open(page, "/insights?days=7&figures=true");
  const card = chart(page, "New each day");
  await card.getByRole("button", { name: "As a table" }).click();
  const table = card.getByRole("table");
  await expect(table.getByRole("row")).toHaveCount(8);
  const answer = await figures(lukasa, 7);
  for (const [at, day] of [...answer.days].reverse().entries()) {
    const cells = table
      .getByRole("row")
      .nth(at + 1)
      .getByRole("cell");
    await expect(cells.nth(1)).toHaveText(String(day.saved));
    await expect(cells.nth(2)).toHaveText(String(day.learned));
    await expect(cells.nth(3)).toHaveText(String(day.proposed));
  }
  const began = page.waitForEvent("download");
  await card.getByRole("button", { name: "Download as CSV" }).click();
  const file = await began;
  expect(file.suggestedFilename()).toBe("lukasa-new.csv");
  const lines = (await readFile(await file.path(), "utf8")).split("\r\n");
  expect(lines[0]).toBe("Day,saved,learned,suggested");
  expect(lines.slice(1, -1)).toEqual(
    answer.days.map((day) => `${day.day},${day.saved},${day.learned},${day.proposed}`),
  );
});

/** Seven areas of a life, more than a chart has names for; the first has the most. */
const AREAS = ["food", "travel", "work", "schedule", "shopping", "communication", "personal"];

test("areas per day: the largest by name, and the sum matches", async ({ page, lukasa }) => {
  const saved = [];
  for (const [at, domain] of AREAS.entries()) {
    for (let n = at; n < AREAS.length; n += 1) {
      saved.push(await lukasa.memories.save({ content: `Fact ${n} about ${domain}`, domain }));
    }
  }
  await lukasa.memories.save("Has a sister called Ana who lives in Porto");
  await lukasa.memories.forget(saved[0]?.memory?.id ?? "");
  await open(page, "/insights?days=7&figures=true");
  const card = chart(page, "Memories by area");
  await expect(card).toContainText("Food and dining 6Travel 6Work 5Schedule 4Shopping 3others 4");
  await screens(page, "insights-domains");

  await card.getByRole("button", { name: "As a table" }).click();
  const { days } = await figures(lukasa, 7);
  const names = await card.getByRole("columnheader").allTextContents();
  const [area, called] = [AREAS.slice(0, 5), await lukasa.domains.list()];
  const titles = area.map((name) => called.find((one) => one.name === name)?.display_name);
  expect(names).toEqual(["Day", ...titles, "others"]);
  const rows = days.map((day) => {
    const named = area.map((name) => {
      return day.domains.find((one) => one.domain === name)?.memories ?? 0;
    });
    const all = day.domains.reduce((sum, one) => sum + one.memories, 0);
    expect(all, "the same as by tier").toBe(day.memories.strong + day.memories.tentative);
    return [...named, all - named.reduce((sum, one) => sum + one, 0)];
  });
  for (const [at, row] of [...rows].reverse().entries()) {
    const cells = card
      .getByRole("row")
      .nth(at + 1)
      .getByRole("cell");
    expect((await cells.allTextContents()).slice(1)).toEqual(row.map(String));
  }
  const began = page.waitForEvent("download");
  await card.getByRole("button", { name: "Download as CSV" }).click();
  const file = await began;
  expect(file.suggestedFilename()).toBe("lukasa-by-domain.csv");
  const lines = (await readFile(await file.path(), "utf8")).split("\r\n");
  expect(lines.slice(0, -1)).toEqual([
    names.join(","),
    ...rows.map((row, at) => [days[at]?.day, ...row].join(",")),
  ]);
});

test("range, tables and days are chosen by keyboard alone", async ({ page, lukasa }) => {
  await use(lukasa);
  await open(page, "/insights?figures=true");
  const known = chart(page, "Memories by certainty").getByRole("slider");
  await expect(known).toHaveAttribute("aria-valuemax", "30");
  await page.keyboard.press("3");
  await expect(page).toHaveURL(/days=90/);
  await expect(known).toHaveAttribute("aria-valuemax", "90");
  await page.keyboard.press("1");
  await expect(known).toHaveAttribute("aria-valuemax", "7");
  // The chosen day is the same in all charts.
  await known.focus();
  await page.keyboard.press("ArrowLeft");
  await expect(known).toHaveAttribute("aria-valuenow", "6");
  await expect(known).toHaveAttribute("aria-valuetext", /: certain 0, likely 0, guess 0$/);
  const made = chart(page, "New each day").getByRole("slider");
  await expect(made).toHaveAttribute("aria-valuenow", "6");
  await page.keyboard.press("Home");
  await expect(known).toHaveAttribute("aria-valuenow", "1");
  await page.keyboard.press("End");
  await expect(known).toHaveAttribute("aria-valuenow", "7");
  await page.keyboard.press("t");
  await expect(page).toHaveURL(/table=true/);
  await expect(page.getByRole("slider")).toHaveCount(0);
  await expect(page.getByRole("table", { name: "Cost of chat models" })).toBeVisible();
});

test("charts update without a reload", async ({ page, lukasa }) => {
  await open(page, "/insights?days=7&figures=true");
  await expect(page.getByText("Waiting for the first memory…")).toBeVisible();
  await lukasa.memories.save("Prefers window seats on long flights");
  await expect(chart(page, "New each day")).toContainText("saved 1");
  await lukasa.memories.save("Has a sister called Ana who lives in Porto");
  await expect(chart(page, "New each day")).toContainText("saved 2");
});

test("accessibility of insights, empty and as charts", async ({ page, lukasa }) => {
  test.slow();
  await open(page, "/insights");
  await expect(page.getByText("No figures yet")).toBeVisible();
  await axe(page);
  await screens(page, "insights-empty");
  await use(lukasa);
  await counted(lukasa);
  await open(page, "/insights?days=7&figures=true");
  await expect(chart(page, "Memories by area")).toBeVisible();
  await axe(page);
  await screens(page, "insights");
});

test("accessibility of insights as tables", async ({ page, lukasa }) => {
  test.slow();
  await use(lukasa);
  await counted(lukasa);
  await open(page, "/insights?days=7&table=true");
  await expect(chart(page, "Search time").getByRole("table")).toBeVisible();
  await axe(page);
  await screens(page, "insights-table");
});

test("insights are reached from the profile by their name", async ({ page, lukasa }) => {
  await seed(lukasa, SOME);
  await open(page, "/sources");
  await page.getByRole("main").getByRole("link", { name: "Insights" }).click();
  await expect(page).toHaveURL(/\/insights/);
  await expect(page.getByRole("heading", { level: 1, name: "Insights" })).toBeVisible();
});

test("insights say how many memories have no area", async ({ page, lukasa }) => {
  await seed(lukasa, SOME);
  const { domains } = await figures(lukasa, 30);
  const without = domains.find((one) => !one.domain)?.memories;
  const areas = domains.filter((one) => one.domain).length;
  expect(without).toBeGreaterThan(1);
  await open(page, "/insights");
  const sum = page.getByText(/^Lukasa remembers \d+ things about you, in/);
  await expect(sum).toContainText(
    new RegExp(`in ${areas} areas? of life; ${without} of them have no area\\.`),
  );
});
