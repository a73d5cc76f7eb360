/**
 * Key latency with ten thousand memories: from the press to the next paint, as the browser times it.
 */
import { cpus, loadavg } from "node:os";
import type { CDPSession, Page } from "@playwright/test";
import { expect, open, seedMany, test } from "../../fixture.ts";

/** Records the latency of each key press. The browser rounds to 8 ms and omits presses under 16 ms. */
async function watchKeys(page: Page): Promise<void> {
  await page.evaluate(() => {
    const took: number[] = [];
    Object.assign(window, { took });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.name === "keydown") took.push(entry.duration);
      }
    }).observe({
      type: "event",
      durationThreshold: 16,
      buffered: false,
    } as PerformanceObserverInit);
  });
}

/** CPU time that the page's main thread has used, in milliseconds, independent of other processes. */
async function mainThreadMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return 1000 * (metrics.find((one) => one.name === "TaskDuration")?.value ?? 0);
}

interface Latency {
  /** From the press to the next paint, 95th percentile. */
  p95: number;
  /** Main thread CPU time per press. */
  work: number;
}

async function measure(
  page: Page,
  cdp: CDPSession,
  what: string,
  press: () => Promise<number>,
): Promise<Latency> {
  const before = await mainThreadMs(cdp);
  const pressed = await press();
  await page.waitForTimeout(300);
  const work = ((await mainThreadMs(cdp)) - before) / pressed;
  const took = await page.evaluate(() => (window as unknown as { took: number[] }).took.splice(0));
  // Presses too quick to be recorded count as 16 ms, the lowest recorded value.
  const all = [...took, ...Array<number>(Math.max(0, pressed - took.length)).fill(16)];
  all.sort((a, b) => a - b);
  const at = (part: number) => all[Math.min(all.length - 1, Math.floor(all.length * part))] ?? 0;
  console.log(
    `${what}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms of ${pressed} keys, ${work.toFixed(1)} ms of work each`,
  );
  return { p95: at(0.95), work };
}

// A trace takes a screenshot with every step, which would be timed as well.
test.use({ trace: "off" });

test("key press is painted within 100 ms with ten thousand memories", async ({ page, lukasa }) => {
  test.setTimeout(300_000);
  await seedMany(lukasa, 10_000);
  const began = Date.now();
  await open(page, "/memory");
  await expect(page.getByText(/^Fact \d+ about/).first()).toBeVisible();
  console.log(`the first rows after ${Date.now() - began} ms`);
  await expect(page.getByText("10,000 memories", { exact: true })).toBeVisible({
    timeout: 120_000,
  });
  console.log(`all rows after ${Date.now() - began} ms`);
  // Only the visible rows are rendered.
  expect(await page.locator("button[data-memory]").count()).toBeLessThan(80);
  await watchKeys(page);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const times = async (count: number, ...keys: string[]) => {
    for (let at = 0; at < count; at++) for (const key of keys) await page.keyboard.press(key);
    return count * keys.length;
  };
  const latencies = [
    await measure(page, cdp, "J", () => times(30, "j")),
    await measure(page, cdp, "X and down", () => times(10, "x", "ArrowDown")),
    await measure(page, cdp, "to the end and back", () => times(3, "End", "Home")),
    await measure(page, cdp, "F", () => times(5, "f")),
    await measure(page, cdp, "typing a filter", async () => {
      await page.keyboard.press("/");
      await page.keyboard.type("fact 99 travel", { delay: 60 });
      return 15;
    }),
  ];
  await expect(page.locator("button[data-memory]").first()).toContainText(/travel/);
  expect(Math.max(...latencies.map((one) => one.work))).toBeLessThan(100);
  // Wall-clock time is meaningful only while the machine is otherwise idle.
  const [load = 0] = loadavg();
  if (load < cpus().length) expect(Math.max(...latencies.map((one) => one.p95))).toBeLessThan(100);
  else console.log(`the machine was busy (load ${load.toFixed(1)}): only the CPU time is checked`);
});
