import { Lukasa } from "lukasa-client";
import { axe, expect, open, screens, test } from "../fixture.ts";

// A server that everybody has to sign in to, on the same database as the one that knows its person.
const url = process.env.CONSOLE_KEYS_URL ?? "";
const key = process.env.CONSOLE_ADMIN_KEY ?? "";

test.use({ baseURL: url });
test.beforeEach(({ allowed }) => {
  // Being turned away is what most of these are about, and browsers put it on the console.
  allowed.push(/401/);
});

const operator = () => new Lukasa({ url, key });

test("whoever is not signed in is led to the sign-in, and back afterwards", async ({
  page,
  user,
}) => {
  await open(page, "/review?kind=guess");
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await axe(page);
  await screens(page, "sign-in");
  await page.getByLabel("Key").fill("lk_live_wrong");
  await page.getByRole("textbox", { name: "User" }).fill(user);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("No such key");
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: "User" }).press("Enter");
  await expect(page).toHaveURL(/\/review\?kind=guess$/);
  await expect(page.getByRole("heading", { level: 1, name: "Review" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(user);
});

test("a one-time link signs in once, leaves the address, and then says that it is spent", async ({
  page,
  user,
  browser,
}) => {
  const { href } = await operator().signIn.link(user);
  await page.goto(href);
  await expect(page).toHaveURL(/\/memory$/);
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(user);
  expect(page.url()).not.toContain("lk_link_");
  // Somebody the link lets in is the person, and does not run the server.
  await expect(page.getByRole("link", { name: "Playground" })).toHaveCount(0);
  const elsewhere = await browser.newPage({ baseURL: url });
  await elsewhere.goto(href);
  await expect(elsewhere.getByRole("alert")).toContainText("This link no longer works");
  // Also where nobody got in: the address is what people copy when they ask for help.
  expect(elsewhere.url()).not.toContain("lk_link_");
  await elsewhere.close();
});

test("after signing in nobody is led to another host", async ({ page, user }) => {
  const { href } = await operator().signIn.link(user);
  await page.goto(href.replace("#", "?to=//evil.example/#"));
  await expect(page).toHaveURL(`${url}/memory`);
});

test("an operator looks at somebody else, and signs out for good", async ({ page, user }) => {
  await page.goto("/sign-in");
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: "User" }).fill(user);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/memory$/);
  const other = `${user}-sister`;
  await operator().for(other).memories.save("Sings in a choir on Thursdays");
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Look at somebody else" }).click();
  await page.getByRole("textbox", { name: "User" }).fill(other);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: /Your account/ })).toContainText(other);
  await expect(page.getByText("Sings in a choir on Thursdays")).toBeVisible();
  const cookies = await page.context().cookies();
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/sign-in$/);
  // A copy of the cookie is worth nothing afterwards.
  await page.context().addCookies(cookies);
  await page.goto("/memory");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("no script can read the cookie, and no other site can use it", async ({
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
  // Even a browser that would send it along: a page from elsewhere cannot say that it is ours.
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
  // A real browser, on a page of another origin that tries.
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
  // The same request from our own page does come in: it was the site that was refused.
  const own = await fetch(`${baseURL}/api/memory?limit=1`, {
    headers: { ...headers, "sec-fetch-site": "same-origin" },
  });
  expect(own.status).toBe(200);
  const kept = await operator().for(user).memories.list().all();
  expect(kept).toEqual([]);
});
