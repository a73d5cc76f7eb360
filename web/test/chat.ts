/** What the specs of the chat page share: saying something, and a server that has a model. */
import type { Page } from "@playwright/test";
import { test as base, expect } from "./fixture.ts";

/** Says something as a person does, and sends it with Enter. */
export async function say(page: Page, words: string): Promise<void> {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill(words);
  await field.press("Enter");
}

/** Waits until nothing is being answered. */
export async function answered(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
}

const MODEL_URL = process.env.CONSOLE_MODEL_URL;

/** Against the server that has a model: `test/model.mjs`, which follows a script. */
export const withModel = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  baseURL: async ({}, use) => {
    if (!MODEL_URL) throw new Error("no server with a model: say where in CONSOLE_MODEL_URL");
    await use(MODEL_URL);
  },
});

/** With chats that were written through the API: they were given no memory, which the server says with 404. */
export const appended = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  allowed: async ({}, use) => {
    await use([/404.*\/context$/]);
  },
});
