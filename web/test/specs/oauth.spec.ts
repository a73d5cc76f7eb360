import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { expect, test } from "../fixture.ts";

// A server that requires sign-in and knows its own address.
const url = process.env.CONSOLE_KEYS_URL ?? "";
const key = process.env.CONSOLE_ADMIN_KEY ?? "";
const verifier = "a".repeat(64);
const challenge = createHash("sha256").update(verifier).digest("base64url");
const name = 'Assistant <img src=x onerror="alert(1)">';

// The page of an assistant on another site: a link to connect, and the address of the answer.
let assistant: Server;
let site = "";
let clientId = "";

test.use({ baseURL: url });
test.beforeAll(async () => {
  assistant = createServer((request, response) => {
    const query = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: `${site}/callback`,
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: "a state",
      resource: `${url}/mcp`,
    });
    const link = `${url}/oauth/authorize?${query}`.replaceAll("&", "&amp;");
    response.setHeader("content-type", "text/html");
    response.end(
      request.url?.startsWith("/callback")
        ? "Back"
        : `<link rel="icon" href="data:,"><a href="${link}">Connect</a>`,
    );
  });
  await new Promise<void>((resolve) => assistant.listen(0, "127.0.0.1", resolve));
  site = `http://localhost:${(assistant.address() as AddressInfo).port}`;
  const answer = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [`${site}/callback`] }),
  });
  clientId = (await answer.json()).client_id;
});
test.afterAll(() => void assistant.close());
test.beforeEach(({ allowed }) => {
  allowed.push(/a request to another host: http:\/\/localhost/, /401/, /favicon/);
});

async function signIn(page: Page, user: string) {
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: "User" }).fill(user);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("assistant is connected after a sign-in, listed and disconnected", async ({ page, user }) => {
  await page.goto(site);
  await page.getByRole("link", { name: "Connect" }).click();
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await signIn(page, user);
  await expect(page.getByRole("heading", { name: "Connect an assistant" })).toBeVisible();
  await expect(page.getByText(user, { exact: true })).toBeVisible();
  await expect(page.getByText("a program on this computer")).toBeVisible();
  await expect(page.locator("img")).toHaveCount(0);
  // The form ends at the other site, which the page's policy allows.
  await page.getByRole("button", { name: "Allow" }).click();
  await expect(page).toHaveURL(/^http:\/\/localhost:\d+\/callback\?/);
  const answer = new URL(page.url()).searchParams;
  expect([answer.get("state"), answer.get("iss")]).toEqual(["a state", url]);
  const issued = await fetch(`${url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: clientId,
      code: answer.get("code") ?? "",
      code_verifier: verifier,
      redirect_uri: `${site}/callback`,
    }),
  });
  expect(issued.status).toBe(200);

  await page.goto("/settings?tab=assistants");
  const row = page.getByRole("listitem").filter({ hasText: "Assistant ‹img" });
  await expect(row).toContainText("read");
  await row.getByRole("button", { name: "Disconnect" }).click();
  await expect(row).toHaveCount(0);
});

test("assistant of a user who is signed in gets the user's no", async ({ page, user }) => {
  await page.goto("/sign-in");
  await signIn(page, user);
  await expect(page).toHaveURL(/\/memory$/);
  // The cookie is not sent with the navigation from the other site, but the consent page has it.
  await page.goto(site);
  await page.getByRole("link", { name: "Connect" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await expect(page).toHaveURL(/\/callback\?error=access_denied/);
  await page.goto("/settings?tab=assistants");
  await expect(page.getByRole("button", { name: "Disconnect" })).toHaveCount(0);
});
