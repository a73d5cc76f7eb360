/** Shared by the specs of the chat page: sending a message, and the server that has a model. */
import type { Page } from "@playwright/test";
import { test as base, expect } from "./fixture.ts";

/** Types a message and sends it with Enter. */
export async function say(page: Page, words: string): Promise<void> {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill(words);
  await field.press("Enter");
}

/** Waits until the answer is complete. */
export async function answered(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: "Send", exact: true })).toBeVisible();
}

const MODEL_URL = process.env.CONSOLE_MODEL_URL;

/** Against the server that has a model: `test/model.mjs`, which follows a script. */
export const withModel = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  baseURL: async ({}, use) => {
    if (!MODEL_URL) throw new Error("no server with a model: set CONSOLE_MODEL_URL");
    await use(MODEL_URL);
  },
});

const SETUP_URL = process.env.CONSOLE_SETUP_URL;

/** Against the server without a model, on which one can be set up. */
export const withSetup = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  baseURL: async ({}, use) => {
    if (!SETUP_URL) throw new Error("no server to set up a model on: set CONSOLE_SETUP_URL");
    await use(SETUP_URL);
  },
});

/** For chats appended through the API: they have no context, so its request answers 404. */
export const appended = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
  allowed: async ({}, use) => {
    await use([/404.*\/context$/]);
  },
});
