import { expect, open, test } from "../fixture.ts";

// These show the page a server that knows nobody; this one listens on one machine only and lets everybody
// in. What the real one answers takes their place as soon as it has sessions.
test("whoever is not signed in is led to the sign-in, and back afterwards", async ({
  page,
  allowed,
}) => {
  allowed.push(/401/);
  const problem = {
    code: "unauthenticated",
    title: "Nobody is signed in",
    status: 401,
    detail: "",
    type: "",
  };
  await page.route("**/api/session", (route) =>
    route.fulfill({
      status: 401,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    }),
  );
  await open(page, "/review?kind=guess");
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await page.getByLabel("Key").fill("qp_live_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("Nobody is signed in");
  await page.unroute("**/api/session");
  await page.route("**/api/session", (route) => {
    if (route.request().method() !== "POST") return route.continue();
    expect(route.request().postDataJSON()).toEqual({ key: "qp_live_right" });
    return route.fulfill({ status: 200, json: {} });
  });
  await page.getByLabel("Key").fill("qp_live_right");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/review\?kind=guess$/);
  await expect(page.getByRole("heading", { level: 1, name: "Review" })).toBeVisible();
});

test("a one-time link is sent once, and leaves the address", async ({ page }) => {
  const sent: unknown[] = [];
  await page.route("**/api/session", (route) => {
    if (route.request().method() !== "POST") return route.continue();
    sent.push(route.request().postDataJSON());
    return route.fulfill({ status: 200, json: {} });
  });
  await page.goto("/sign-in#qp_link_abc123");
  await expect(page).toHaveURL(/\/memory$/);
  expect(sent).toEqual([{ link: "qp_link_abc123" }]);
  expect(page.url()).not.toContain("qp_link_");
});

test("after signing in nobody is led to another host", async ({ page }) => {
  await page.route("**/api/session", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 200, json: {} })
      : route.continue(),
  );
  await page.goto("/sign-in?to=//evil.example/#qp_link_abc123");
  await expect(page).toHaveURL(/127\.0\.0\.1:\d+\/memory$/);
});
