/**
 * How long interactions take: from the event to the next paint as the browser times it, the CPU time of the page's
 * main thread, and the script of its longest frame.
 */
import { cpus, loadavg } from "node:os";
import type { CDPSession, Page } from "@playwright/test";
import { expect } from "./fixture.ts";

const MAX_MS = 100;
/** How long the page is watched after the last interaction. */
const SETTLE_MS = 300;

interface Recorded {
  /** Duration of each event, from 16 ms. The browser rounds to 8 ms. */
  events: number[];
  /** Script in each frame that took longer than 50 ms. */
  scripts: number[];
}

interface Latency {
  what: string;
  /** From the event to the next paint, 95th percentile. */
  p95: number;
  /** CPU time of the main thread per interaction, and of scripts in it. */
  task: number;
  script: number;
  /** The most script in one frame. */
  frame: number;
}

export class LatencyMeter {
  readonly #page: Page;
  readonly #cdp: CDPSession;
  readonly #latencies: Latency[] = [];

  private constructor(page: Page, cdp: CDPSession) {
    this.#page = page;
    this.#cdp = cdp;
  }

  /** Watches a page that is loaded. */
  static async on(page: Page): Promise<LatencyMeter> {
    await page.evaluate(() => {
      const recorded: Recorded = { events: [], scripts: [] };
      Object.assign(window, { recorded });
      const observe = (type: string, note: (entry: PerformanceEntry) => void) =>
        new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({
          type,
          durationThreshold: 16,
          buffered: false,
        } as PerformanceObserverInit);
      observe("event", ({ name, duration }) => {
        if (name === "keydown" || name === "click") recorded.events.push(duration);
      });
      observe("long-animation-frame", (frame) => {
        const { scripts } = frame as PerformanceEntry & { scripts: PerformanceEntry[] };
        recorded.scripts.push(scripts.reduce((sum, { duration }) => sum + duration, 0));
      });
    });
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    return new LatencyMeter(page, cdp);
  }

  /** Measures interactions; `act` returns how many it made. */
  async measure(what: string, act: () => Promise<number>): Promise<void> {
    const before = await mainThreadMs(this.#cdp);
    const count = await act();
    await this.#page.waitForTimeout(SETTLE_MS);
    const after = await mainThreadMs(this.#cdp);
    const task = (after.task - before.task) / count;
    const script = (after.script - before.script) / count;
    const { events, scripts } = await this.#page.evaluate(() => {
      const { recorded } = window as unknown as { recorded: Recorded };
      return { events: recorded.events.splice(0), scripts: recorded.scripts.splice(0) };
    });
    // Interactions too quick to be recorded count as 16 ms, the lowest recorded value.
    const all = [...events, ...Array<number>(Math.max(0, count - events.length)).fill(16)];
    all.sort((a, b) => a - b);
    const at = (part: number) => all[Math.min(all.length - 1, Math.floor(all.length * part))] ?? 0;
    const frame = Math.max(0, ...scripts);
    console.log(
      `${what}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms of ${count}, ${task.toFixed(1)} ms of CPU each, ` +
        `${script.toFixed(1)} ms of it script, at most ${frame.toFixed(0)} ms of script in a frame`,
    );
    this.#latencies.push({ what, p95: at(0.95), task, script, frame });
  }

  /** Expects that no interaction took longer than 100 ms. */
  check(): void {
    const above = (part: "p95" | "task" | "script" | "frame") =>
      this.#latencies.filter((one) => one[part] >= MAX_MS).map(({ what }) => `${what}: ${part}`);
    expect(above("script")).toEqual([]);
    // Other processes also lengthen the CPU time of a page that is painted without a GPU.
    if (isIdle()) expect([...above("p95"), ...above("task"), ...above("frame")]).toEqual([]);
  }
}

/** CPU time that the page's main thread has used, in milliseconds, and that of scripts in it. */
export async function mainThreadMs(cdp: CDPSession): Promise<{ task: number; script: number }> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  const of = (name: string) => 1000 * (metrics.find((one) => one.name === name)?.value ?? 0);
  return { task: of("TaskDuration"), script: of("ScriptDuration") };
}

/** Whether wall-clock time is meaningful: only while the machine is otherwise idle. */
export function isIdle(): boolean {
  const [load = 0] = loadavg();
  const idle = load < cpus().length;
  if (!idle) console.log(`the machine is busy (load ${load.toFixed(1)}): only CPU time is checked`);
  return idle;
}
