import { defineConfig } from "@playwright/test";

/** A real browser against the real server; `run-tests` starts the server and sets its URL. */
export default defineConfig({
  testDir: "test",
  // The screenshots of the documentation are taken only on request.
  testMatch: process.env.LUKASA_TOUR
    ? ["tour/*.spec.ts", "specs/newcomer.spec.ts"]
    : "specs/**/*.spec.ts",
  outputDir: process.env.LUKASA_TEST_OUTPUT ?? "test-results",
  workers: Number(process.env.LUKASA_WORKERS ?? 2),
  timeout: 30_000,
  expect: { timeout: 7_000 },
  forbidOnly: true,
  // A browser on a busy machine is sometimes late: that is reported as flaky, and a second failure counts.
  retries: 1,
  reporter: [["list"]],
  use: {
    baseURL: process.env.CONSOLE_URL ?? "http://127.0.0.1:7777",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    // A trace is recorded only of a test that is repeated.
    trace: "on-first-retry",
    launchOptions: {
      executablePath: process.env.LUKASA_CHROMIUM ?? "/usr/bin/chromium",
      // Containers run as root, where the sandbox does not start.
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    },
  },
});
