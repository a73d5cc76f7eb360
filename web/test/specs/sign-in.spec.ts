import { Lukasa } from "lukasa-client";
import { axe, expect, open, screens, test } from "../fixture.ts";

// A server that requires sign-in, on the same database as the one in local mode.
const url = process.env.CONSOLE_KEYS_URL ?? "";
const key = process.env.CONSOLE_ADMIN_KEY ?? "";

test.use({ baseURL: url });
test.beforeEach(({ allowed }) => {
  // Most of these tests provoke a 401, which browsers write to the console.
  allowed.push(/401/);
});

const operator = () => new Lukasa({ url, key });

test("sign-in redirect returns to the requested page", async ({ page, user }) => {
  await open(page, "/review?kind=candidate");
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await axe(page);
  await screens(page, "sign-in");
  await page.getByLabel("Key").fill("lk_live_wrong");
  await page.getByRole("textbox", { name: "User" }).fill(user);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("No such key");
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: "User" }).press("Enter");
  await expect(page).toHaveURL(/\/review\?kind=candidate$/);
  await expect(page.getByRole("heading", { level: 1, name: "Review" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(user);
});

test("identity providers are links, and the first one is the main action", async ({ page }) => {
  const providers = ["Acme", "Other"].map((name) => ({ name, href: `/oidc/${name}` }));
  await page.route("**/api/sign-in/methods", (route) => route.fulfill({ json: { providers } }));
  await open(page, "/sign-in?to=%2Freview");
  const acme = page.getByRole("link", { name: "Sign in with Acme" });
  await expect(acme).toHaveAttribute("href", "/oidc/Acme?to=%2Freview");
  await expect(page.getByRole("link", { name: "Sign in with Other" })).toBeVisible();
  await expect(page.locator("main .bg-accent")).toHaveText("Sign in with Acme");
  await axe(page);
});

test("sign-out offers to end the session at the identity provider too", async ({ page, user }) => {
  const providers = [{ name: "Acme", href: "/oidc/begin" }];
  await page.route("**/api/sign-in/methods", (route) => route.fulfill({ json: { providers } }));
  await open(page, "/sign-in");
  await expect(page.getByRole("link", { name: "Sign in with Acme" })).toBeVisible();
  const end = page.getByRole("link", { name: "Sign out of Acme too" });
  await expect(end).toHaveCount(0);
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: "User" }).fill(user);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/memory$/);
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(end).toHaveAttribute("href", "/oidc/sign-out");
  await axe(page);
});

test("sign-in methods that cannot be read are an error with a retry", async ({ page, allowed }) => {
  allowed.push(/503/);
  let isDown = true;
  const problem = {
    code: "unavailable",
    title: "Temporarily unavailable",
    status: 503,
    detail: "",
  };
  await page.route("**/api/sign-in/methods", (route) =>
    isDown
      ? route.fulfill({ status: 503, contentType: "application/problem+json", json: problem })
      : route.fulfill({ json: { providers: [{ name: "Acme", href: "/oidc/Acme" }] } }),
  );
  await open(page, "/sign-in");
  await expect(page.getByRole("alert")).toContainText("The database is not available", {
    timeout: 20_000,
  });
  // The key can be used meanwhile.
  await expect(page.getByLabel("Key")).toBeVisible();
  isDown = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: "Sign in with Acme" })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("one-time link works once and is removed from the address", async ({
  page,
  user,
  browser,
}) => {
  const { href } = await operator().signIn.link(user);
  await page.goto(href);
  await expect(page).toHaveURL(/\/memory$/);
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(user);
  expect(page.url()).not.toContain("lk_link_");
  // A link signs in the user, who is not the operator.
  await expect(page.getByRole("link", { name: "Playground" })).toHaveCount(0);
  const elsewhere = await browser.newPage({ baseURL: url });
  await elsewhere.goto(href);
  await expect(elsewhere.getByRole("alert")).toContainText("This link no longer works");
  // Only an operator has a key.
  await expect(elsewhere.getByLabel("Key")).toBeHidden();
  await elsewhere.getByText("I run this server").click();
  await expect(elsewhere.getByLabel("Key")).toBeVisible();
  // Also after a failed sign-in: users copy the address when they ask for help.
  expect(elsewhere.url()).not.toContain("lk_link_");
  await elsewhere.close();
});

test("sign-in over plain HTTP says what is wrong, and keeps the link", async ({ page, user }) => {
  const { href } = await operator().signIn.link(user);
  await page.addInitScript(() => {
    const over = new URLSearchParams(location.search).get("over");
    if (over === "http") Object.defineProperty(window, "isSecureContext", { value: false });
  });
  await page.goto(href.replace("#", "?over=http#"));
  await expect(page.getByRole("alert")).toContainText("This connection is not encrypted");
  await expect(page.getByLabel("Key")).toHaveCount(0);
  const again = page.getByRole("link", { name: "Open with https" });
  await expect(again).toHaveAttribute("href", /^https:.*#lk_link_/);
  // The link was not spent.
  await page.goto(href);
  await expect(page).toHaveURL(/\/memory$/);
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(user);
});

test("redirect after sign-in stays on this host", async ({ page, user }) => {
  const { href } = await operator().signIn.link(user);
  await page.goto(href.replace("#", "?to=//evil.example/#"));
  await expect(page).toHaveURL(`${url}/memory`);
});

test("operator switches user, and sign-out revokes the cookie", async ({ page, user }) => {
  await page.goto("/sign-in");
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: "User" }).fill(user);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/memory$/);
  const other = `${user}-sister`;
  await operator().forUser(other).memories.save("Sings in a choir on Thursdays");
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Switch user" }).click();
  await page.getByRole("textbox", { name: "User" }).fill(other);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(other);
  await expect(page.getByText("Sings in a choir on Thursdays")).toBeVisible();
  const cookies = await page.context().cookies();
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/sign-in$/);
  // A copy of the cookie no longer works.
  await page.context().addCookies(cookies);
  await page.goto("/memory");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("cookie is unreadable for scripts and unusable for other sites", async ({
  page,
  user,
  baseURL,
  browser,
}) => {
  const { href } = await operator().signIn.link(user);
  await page.goto(href);
  await expect(page).toHaveURL(/\/memory$/);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({
    name: "__Host-lukasa",
    httpOnly: true,
    secure: true,
    sameSite: "Strict",
    path: "/",
  });
  expect(await page.evaluate(() => document.cookie)).toBe("");
  // Even if a browser sent the cookie along: a page of another site cannot set `sec-fetch-site`.
  const headers = {
    cookie: `${cookie?.name}=${cookie?.value}`,
    "content-type": "application/json",
  };
  const body = JSON.stringify({ content: "Planted by another site" });
  for (const site of ["cross-site", "same-site", "none"]) {
    const refused = await fetch(`${baseURL}/api/memory`, {
      method: "POST",
      headers: { ...headers, "sec-fetch-site": site },
      body,
    });
    expect(refused.status, site).toBe(401);
  }
  // A real browser, on a page of another origin.
  const context = await browser.newContext();
  await context.addCookies([{ ...(cookie as NonNullable<typeof cookie>) }]);
  const evil = await context.newPage();
  await evil.goto("about:blank");
  await evil.evaluate(
    ([to, sent]) =>
      fetch(`${to}/api/memory`, {
        method: "POST",
        mode: "no-cors",
        credentials: "include",
        body: sent,
      }).catch(() => undefined),
    [baseURL ?? "", body] as const,
  );
  await context.close();
  // The same request from our own page is accepted: it was the site that was refused.
  const own = await fetch(`${baseURL}/api/memory?limit=1`, {
    headers: { ...headers, "sec-fetch-site": "same-origin" },
  });
  expect(own.status).toBe(200);
  const saved = await operator().forUser(user).memories.list().all();
  expect(saved).toEqual([]);
});
