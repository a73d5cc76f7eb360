import { defineConfig } from "@playwright/test";

/** A real browser, a host page on another origin, and the real server, which `run-tests` starts. */
export default defineConfig({
  testDir: "test",
  outputDir: process.env.LUKASA_TEST_OUTPUT ?? "test-results",
  workers: 1,
  timeout: 30_000,
  expect: { timeout: 7_000 },
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    locale: "en-GB",
    viewport: { width: 900, height: 800 },
    launchOptions: {
      executablePath: process.env.LUKASA_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    },
  },
});
