import {
  axe,
  BOTH,
  expect,
  open,
  ROUTES,
  SOME,
  screens,
  seed,
  test,
  unfoldDeveloper,
} from "../fixture.ts";

test.describe("shell", () => {
  test("home redirects to the memory page with its empty state", async ({ page }) => {
    await page.goto("/");
    await expect(page).toHaveURL(/\/memory$/);
    await expect(page).toHaveTitle("Memory · Lukasa");
    await expect(
      page.getByRole("heading", { name: "Tell me something about yourself" }),
    ).toBeVisible();
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    await expect(links).toHaveText([
      "Memory",
      "Review",
      "Chat",
      "Profile",
      "Activity",
      "Import & export",
      "Settings",
    ]);
    await screens(page, "memory-empty");
  });

  test("first screen is read with one request", async ({ page, lukasa }) => {
    // A memory with few entries also asks whether an assistant has called, for its next step.
    for (let number = 1; number <= 21; number++) await lukasa.memories.save(`Knows song ${number}`);
    await lukasa.memories.save("Plays the cello");
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/(api|readyz|healthz)/.test(pathname)) asked.push(pathname);
    });
    await open(page, "/memory");
    await expect(page.getByText("Plays the cello")).toBeVisible();
    await expect(page.getByRole("img", { name: "Live" })).toBeVisible();
    await expect.poll(() => asked).toContain("/api/events");
    expect(asked.sort()).toEqual(["/api/events", "/api/home", "/api/sign-in"]);
  });

  test("live updates show changes made through the API", async ({ page, lukasa }) => {
    await open(page, "/memory");
    await expect(page.getByRole("img", { name: "Live" })).toBeVisible();
    await lukasa.memories.save("Plays the cello");
    await expect(page.getByText("Plays the cello")).toBeVisible();
    await lukasa.memories.update("cello", "Plays the viola");
    await expect(page.getByText("Plays the viola")).toBeVisible();
    await lukasa.memories.forget("viola");
    await expect(page.getByText("Plays the viola")).toHaveCount(0);
  });

  test("skip link and page change move the focus to the content", async ({ page }) => {
    await open(page, "/memory");
    await page.keyboard.press("Tab");
    await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
    await page.getByRole("link", { name: "Review" }).click();
    await expect(page.getByRole("main")).toBeFocused();
  });

  test("sign-in page redirects in local mode", async ({ page }) => {
    await open(page, "/sign-in?to=%2Freview");
    await expect(page).toHaveURL(/\/review$/);
    await expect(page.getByRole("heading", { level: 1, name: "Review" })).toBeVisible();
  });

  test("developer pages are folded, and stay open while one of them is shown", async ({ page }) => {
    await open(page, "/memory");
    const group = page.getByRole("button", { name: "Developer" });
    await expect(page.getByRole("link", { name: "Playground" })).toHaveCount(0);
    await group.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Playground" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Playground" })).toBeVisible();
    await page.reload();
    await expect(group).toHaveAttribute("aria-expanded", "true");
    await screens(page, "developer-unfolded");
  });

  test("addresses of moved tabs redirect", async ({ page }) => {
    await open(page, "/settings?tab=webhooks");
    await expect(page).toHaveURL(/\/developer\?tab=webhooks$/);
    await expect(page.getByRole("tab", { name: "Webhooks" })).toHaveAttribute(
      "aria-selected",
      "true",
    );
    await open(page, "/data?tab=activity");
    await expect(page).toHaveURL(/\/activity$/);
  });

  test("bottom bar on phones opens the main pages, and a menu with the others", async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open(page, "/memory");
    const bar = page.getByRole("navigation", { name: "Main pages" });
    await expect(bar.getByRole("link")).toHaveText(["Memory", "Review", "Chat", "Profile"]);
    await expect(bar).toBeInViewport({ ratio: 1 });
    await bar.getByRole("link", { name: "Profile" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    await expect(bar.getByRole("link", { name: "Profile" })).toHaveAttribute(
      "aria-current",
      "page",
    );
    await bar.getByRole("button", { name: "Menu" }).click();
    await unfoldDeveloper(page);
    await axe(page);
    await screens(page, "menu");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("link", { name: "Insights" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Insights" })).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });

  test("theme is applied after a reload before scripts run", async ({ page, allowed }) => {
    allowed.push(/ERR_FAILED.*\/assets\//);
    await page.emulateMedia({ colorScheme: "light" });
    await open(page, "/memory");
    await page.getByRole("button", { name: /^Your account/ }).click();
    await screens(page, "user-menu");
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto("/memory").catch(() => {});
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await page.unroute("**/assets/*.js");
  });

  test("outage banner shows when the server is not ready", async ({ page, allowed }) => {
    allowed.push(/503/);
    for (const path of ["**/readyz", "**/api/home"]) {
      await page.route(path, (route) => route.fulfill({ status: 503, body: "" }));
    }
    await open(page, "/memory");
    await expect(page.getByRole("alert")).toContainText("Chats keep working");
    await axe(page);
  });

  test("outage banner names an unreachable server", async ({ page, allowed }) => {
    allowed.push(/ERR_FAILED/);
    for (const path of ["**/readyz", "**/healthz", "**/api/home"]) {
      await page.route(path, (route) => route.abort());
    }
    await open(page, "/memory");
    await expect(page.getByRole("alert")).toContainText("Can't reach Lukasa");
    await expect(page.getByRole("alert")).not.toContainText("Chats keep working");
  });

  test("outage banner shows as soon as the event stream drops", async ({ page, allowed }) => {
    allowed.push(/ERR_FAILED/);
    for (const path of ["**/readyz", "**/healthz", "**/api/events*"]) {
      await page.route(path, (route) => route.abort());
    }
    await open(page, "/memory");
    // Long before the first probe by the clock.
    await expect(page.getByRole("alert")).toContainText("Can't reach Lukasa", { timeout: 4_000 });
  });

  test("page load is retried until an unreachable server answers", async ({
    page,
    lukasa,
    context,
    allowed,
  }) => {
    test.slow();
    allowed.push(/ERR_INTERNET_DISCONNECTED|Failed to fetch/);
    await lukasa.memories.save("Plays the cello");
    await open(page, "/memory");
    await expect(page.getByText("Plays the cello")).toBeVisible();
    await unfoldDeveloper(page);
    await context.setOffline(true);
    // The code of a page is loaded when it is first opened; a failed load must keep the current page.
    await page.getByRole("link", { name: "Insights" }).click();
    await page.waitForTimeout(3_000);
    await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
    await context.setOffline(false);
    await expect(page.getByRole("heading", { level: 1, name: "Insights" })).toBeVisible({
      timeout: 15_000,
    });
  });

  test("requests are sent while the browser is offline", async ({ page, lukasa }) => {
    await lukasa.memories.save("Plays the cello");
    await open(page, "/settings");
    await page.evaluate(() => dispatchEvent(new Event("offline")));
    await page.getByRole("link", { name: "Memory" }).click();
    await expect(page.getByText("Plays the cello")).toBeVisible();
    await unfoldDeveloper(page);
    await page.getByRole("link", { name: "Insights" }).click();
    await expect(page.getByRole("region", { name: "Your memory" })).toBeVisible();
  });

  test("unknown address shows not found", async ({ page }) => {
    await open(page, "/nowhere");
    await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  });
});

test.describe("every page", () => {
  for (const route of ROUTES) {
    test(`accessibility in light and dark: ${route}`, async ({ page, lukasa }) => {
      await seed(lukasa, SOME);
      await open(page, route);
      await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => {});
      await axe(page, BOTH);
      await screens(page, route.slice(1));
    });
  }

  test("accessibility in light and dark: one memory", async ({ page, lukasa }) => {
    const [saved] = await seed(lukasa, ["Prefers window seats"]);
    await open(page, `/memory/${saved?.memory?.id}`);
    await expect(page.getByText("Prefers window seats").first()).toBeVisible();
    await axe(page, BOTH);
    await screens(page, "memory-one");
  });
});

test.describe("languages", () => {
  test("German, also the names of areas", async ({ page, lukasa }) => {
    await page.addInitScript(() =>
      localStorage.setItem("lukasa.preferences", JSON.stringify({ language: "de" })),
    );
    await open(page, "/memory");
    await expect(page.locator("html")).toHaveAttribute("lang", "de");
    await expect(page.getByRole("heading", { level: 1, name: "Gedächtnis" })).toBeVisible();
    await lukasa.memories.save({ content: "Isst keine Nüsse", domain: "food" });
    await expect(page.getByRole("heading", { name: "Essen und Trinken" })).toBeVisible();
  });

  test("right to left mirrors the layout, and headings come from the catalogues", async ({
    page,
    lukasa,
  }) => {
    await seed(lukasa, SOME);
    await page.addInitScript(() =>
      localStorage.setItem("lukasa.preferences", JSON.stringify({ language: "xx-RTL" })),
    );
    await open(page, "/memory");
    await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
    await expect(page.getByText("Prefers window seats")).toBeVisible();
    const rail = await page.getByRole("complementary").boundingBox();
    const main = await page.getByRole("main").boundingBox();
    expect(rail?.x ?? 0).toBeGreaterThan(main?.x ?? 0);
    // The pseudo-locale puts every catalogue text in brackets; names have none.
    const texts = await page.locator("h1, nav a").allInnerTexts();
    for (const text of texts) expect(text).toContain("⟦");
    await axe(page);
    await screens(page, "rtl");
  });
});
