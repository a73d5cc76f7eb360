/**
 * Fixtures of every spec: a separate user, an API client for that user, and a console page that shows
 * them. The page is watched: a request to another host, a violation of the content security policy and an
 * error on the browser's console each fail the test.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { Lukasa } from "lukasa-client";

export { expect };

/** All routes except the sign-in page, which local mode does not need. */
export const ROUTES = [
  "/memory",
  "/review",
  "/chat",
  "/sources",
  "/activity",
  "/data",
  "/settings",
  "/playground",
  "/insights",
  "/developer",
] as const;

interface Fixtures {
  /** A user that no other test uses. */
  user: string;
  /** The API client for that user. */
  lukasa: Lukasa;
  /** Errors that do not fail the test: add those that it provokes on purpose. */
  allowed: RegExp[];
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  user: async ({}, use, info) => {
    await use(`user-${info.workerIndex}-${Date.now().toString(36)}-${info.retry}`);
  },
  lukasa: async ({ user, baseURL }, use) => {
    await use(new Lukasa({ url: baseURL, user, key: process.env.LUKASA_KEY }));
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  allowed: async ({}, use) => {
    await use([]);
  },
  page: async ({ page, user, baseURL, allowed }, use) => {
    const wrong: string[] = [];
    const own = new URL(baseURL ?? "http://127.0.0.1").origin;
    const report = (what: string) => {
      if (!allowed.some((pattern) => pattern.test(what))) wrong.push(what);
    };
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && protocol !== "blob:" && origin !== own) {
        report(`a request to another host: ${request.url()}`);
      }
    });
    page.on("pageerror", (error) => report(`an error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") {
        report(`on the console: ${message.text()} ${message.location().url}`);
      }
    });
    await page.addInitScript((name) => {
      sessionStorage.setItem("lukasa.user", name);
      addEventListener("securitypolicyviolation", (event) => {
        console.error(`violates the policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    }, user);
    await use(page);
    expect(wrong, "errors on the page").toEqual([]);
  },
});

/** Opens a page and waits until it is rendered. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.locator("h1").first()).toBeVisible();
}

/** Unfolds the pages for developers in the navigation. */
export async function unfoldDeveloper(page: Page): Promise<void> {
  const group = page.getByRole("button", { name: "Developer" });
  if ((await group.getAttribute("aria-expanded")) === "false") await group.click();
}

/** Saves memories through the API, as an application would. */
export async function seed(lukasa: Lukasa, memories: Parameters<Lukasa["memories"]["save"]>[0][]) {
  const saved = [];
  for (const memory of memories) saved.push(await lukasa.memories.save(memory));
  return saved;
}

const DOMAINS = ["food", "travel", "work", "schedule", "shopping"];
const BATCH_SIZE = 500;

/** Imports very many memories quickly. */
export async function seedMany(lukasa: Lukasa, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      item: "memory",
      source: String(at),
      content: `Fact ${at} about ${DOMAINS[at % DOMAINS.length]}, told in ${2000 + (at % 25)}`,
      tags: [DOMAINS[at % DOMAINS.length]],
      at: new Date(Date.UTC(2024, 0, 1) + at * 3_600_000).toISOString(),
    }),
  );
  for (let from = 0; from < items.length; from += BATCH_SIZE) {
    const lines = items.slice(from, from + BATCH_SIZE).join("\n");
    await lukasa.imports.create(lines, { source: "many" });
  }
}

/** Sample memories, for pages that need something to show. */
export const SOME = [
  "Prefers window seats on long flights",
  "Works as a nurse at the Charité in Berlin",
  {
    content: "Never suggest dishes with peanuts",
    force: "hard",
    domain: "food",
    key: "diet.peanuts",
    value: "never",
  },
  { content: "Learning Portuguese for a move to Lisbon", category: "context" },
  { content: "Likes answers short, with the result first", category: "style" },
  "Has a sister called Ana who lives in Porto",
] as Parameters<Lukasa["memories"]["save"]>[0][];

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export const BOTH = ["light", "dark"] as const;
const THEMES = process.env.LUKASA_SHORT === "1" ? (["light"] as const) : BOTH;

/** Expects no WCAG 2.2 AA violation that axe can find, in light and dark; only in light with LUKASA_SHORT. */
export async function axe(
  page: Page,
  themes: readonly ("light" | "dark")[] = THEMES,
): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
    const found = await new AxeBuilder({ page }).withTags(WCAG).setLegacyMode(true).analyze();
    const violations = found.violations.map(
      (one) =>
        `${one.id}: ${one.nodes.map((node) => `${node.target.join(" ")} ${node.failureSummary}`).join("\n")}`,
    );
    expect(violations, `axe, ${colorScheme}`).toEqual([]);
  }
}

/** Takes screenshots at two widths in two themes, if LUKASA_SCREENS names a folder. */
export async function screens(page: Page, name: string): Promise<void> {
  const folder = process.env.LUKASA_SCREENS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
    }
  }
  if (before) await page.setViewportSize(before);
}
