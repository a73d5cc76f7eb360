/**
 * Hostile text. A memory, a tag, the name of a domain and the title of a chat are rendered as text by
 * every view: no script runs, no dialog opens, no request goes to another host, and the content security
 * policy has nothing to block.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { type Lukasa, LukasaError } from "lukasa-client";
import { expect, open, test } from "../../fixture.ts";

const NAUGHTY = [
  "<script>window.ran = 1</script>",
  "</title><script>window.ran = 2</script>",
  '<img src=x onerror="window.ran = 3">',
  "<svg/onload=window.ran=4>",
  '<iframe srcdoc="<script>parent.ran = 5</script>"></iframe>',
  '"><button autofocus onfocus=window.ran=6>press</button>',
  "javascript:window.ran=7//",
  "[a link](javascript:window.ran=8) ![an image](http://attacker.example/pixel.png)",
  '<a href="http://attacker.example/" ping="http://attacker.example/ping">here</a>',
  "<style>@import url(http://attacker.example/a.css); * { display: none }</style>",
  '<meta http-equiv=refresh content="0;url=http://attacker.example/">',
  '<base href="http://attacker.example/"><form action=/steal><input name=a></form>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what makes it naughty
  "{{constructor.constructor('window.ran = 9')()}} ${window.ran = 10} <%= 7*7 %>",
  "'; window.ran = 11; //\\\"; window.ran = 12; //",
  "\u202Egnp.exe\u202C \u2066mixed\u2069 \u200Bzero\u200Dwidth\uFEFF",
  "Z̸̡͔a̶͍l̷g̵o̸ t̷e̸x̶t̵ that climbs out of its line",
  "<details open ontoggle=window.ran=13><summary>x</summary></details>",
  "&lt;script&gt;window.ran = 14&lt;/script&gt; &#60;b&#62;bold&#60;/b&#62;",
  "<math><mtext></table><mglyph><style><img src onerror=window.ran=15>",
  "W".repeat(600),
  "] ^mem-01hx3v9d0kf7rtm4q5wz8yb2ca\n# Not a heading",
];

/** The public list of naughty strings, if the evaluation data is available. */
function collected(): string[] {
  const folder = process.env.LUKASA_EVAL_DATA;
  const file = folder && join(folder, "injection", "naughty_strings.json");
  if (!file || !existsSync(file)) {
    if (process.env.LUKASA_REQUIRE_DATA === "1")
      throw new Error("LUKASA_EVAL_DATA is required here");
    console.log(
      "LUKASA_EVAL_DATA has no injection/naughty_strings.json: only our own strings are tried",
    );
    return [];
  }
  return (JSON.parse(readFileSync(file, "utf8")) as unknown[]).filter(
    (one): one is string => typeof one === "string" && /[<>{}$`"'&\u200b-\u206f]/.test(one),
  );
}

/** Saves them as the user would. An import would make them proposals, and no row would show them. */
async function seedHostile(lukasa: Lukasa, strings: readonly string[]): Promise<void> {
  const waiting = [...strings];
  const work = async () => {
    for (let content = waiting.shift(); content !== undefined; content = waiting.shift()) {
      const tags = [content.trim().slice(0, 40) || "empty"];
      // The server refuses some of them, such as an empty line; those cannot be shown either.
      await lukasa.memories.save({ content, tags }).catch((error) => {
        if (!(error instanceof LukasaError)) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  await lukasa.domains.put("hostile", { display_name: "<img src=x onerror=window.ran=20>" });
  await lukasa.memories.save({ content: "In a <b>hostile</b> domain", domain: "hostile" });
  await lukasa.memories.propose({
    content: "<script>window.ran = 21</script> proposed",
    reasoning: "<img src=x onerror=window.ran=22>",
    evidence: [{ type: "quote", description: "<svg/onload=window.ran=23>" }],
  });
  await lukasa.sessions.open({ title: "<script>window.ran = 24</script>" });
}

/** `own` is the number of such elements that the page has itself. */
async function expectHarmless(page: Page, own = 0): Promise<void> {
  const state = await page.evaluate(() => ({
    ran: (window as unknown as { ran?: unknown }).ran,
    elements: document.querySelectorAll(
      "#root :is(script, iframe, img, base, meta, form[action], [onerror], [onload], style, math, details)",
    ).length,
    links: [...document.querySelectorAll("a")].filter(
      (link) => link.origin !== location.origin || link.protocol === "javascript:",
    ).length,
  }));
  expect(state).toEqual({ ran: undefined, elements: own, links: 0 });
}

test("hostile text is rendered as text in every view", async ({ page, lukasa }) => {
  test.setTimeout(180_000);
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  const strings = [...NAUGHTY, ...collected()];
  await seedHostile(lukasa, strings);
  const saved = await lukasa.memories.list({ limit: 200 }).all();
  console.log(`${saved.length} of ${strings.length} hostile strings were saved`);
  expect(saved.length).toBeGreaterThan(NAUGHTY.length - 3);
  await open(page, "/memory");
  await expect(page.getByRole("list", { name: "Memory" })).toContainText("window.ran");
  await expect(page.getByText("<script>window.ran = 21</script> proposed")).toBeVisible();
  await expectHarmless(page);
  // Scroll page by page, so that every row has been rendered once.
  const scroller = page.getByRole("list", { name: "Memory" }).locator("..");
  for (let at = 0; at < Math.ceil(strings.length / 12); at++) {
    await scroller.evaluate((element, top) => element.scrollTo(0, top), at * 560);
    await page.waitForTimeout(30);
    await expectHarmless(page);
  }
  for (const view of ["board", "timeline", "markdown"]) {
    await page.goto(`/memory?view=${view}`);
    await expect(page.getByText(/window\.ran/).first()).toBeVisible();
    await expectHarmless(page);
  }
  await page.goto("/memory?prompt=true");
  const pane = page.getByRole("complementary", { name: "What the assistant sees" });
  const lines = pane.getByRole("region", { name: "Lines of the prompt" });
  // The server replaces the brackets of tags in a prompt; the menu of a line has the memories as they were saved.
  const line = lines.getByRole("button", { name: /hostile.* domain/ });
  await expect(line).toBeVisible();
  // The instructions of the prompt are folded in one `details`.
  await pane.getByText("instructions for the assistant").last().click();
  await expectHarmless(page, 1);
  await line.click();
  await expect(page.getByRole("menuitem").getByText("In a <b>hostile</b> domain")).toBeVisible();
  await expectHarmless(page, 1);
  await page.keyboard.press("Escape");
  await lines
    .getByRole("button", { name: /^Forget: / })
    .first()
    .click();
  await expect(lines.locator("del")).toHaveCount(1);
  await expectHarmless(page, 1);
  await page.goto(`/memory?text=${encodeURIComponent("<script>")}&how=meaning&tag=x`);
  await page.goto(`/memory?tag=${encodeURIComponent(NAUGHTY[0] ?? "")}&domain=%3Cb%3E`);
  await expectHarmless(page);
  for (const start of ["<script>", "<img", "<iframe", "javascript:", "[a link]"]) {
    const memory = saved.find((one) => one.content.startsWith(start));
    if (!memory) continue;
    await page.goto(`/memory/${memory.id}`);
    await expect(page.getByText(memory.content.slice(0, 12)).first()).toBeVisible();
    await expect(page.getByText("Saved").or(page.getByText("Imported")).first()).toBeVisible();
    await expectHarmless(page);
  }
  await page.goto("/chat");
  await expect(page.locator("h1").first()).toBeVisible();
  await expectHarmless(page);
  expect(dialogs).toBe(0);
});
