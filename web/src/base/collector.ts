/** Collects what arrives while earlier items are handled, so that thousands of events take few steps. */

/** At least this long between two steps. */
const INTERVAL_MS = 200;

/** The first item is handled at once; those that arrive meanwhile are handled together afterwards. */
export function collector<T>(
  handle: (items: T[]) => Promise<unknown>,
  intervalMs = INTERVAL_MS,
): (item: T) => void {
  let waiting: T[] = [];
  let running = false;
  const run = async () => {
    running = true;
    while (waiting.length > 0) {
      const items = waiting;
      waiting = [];
      const pause = new Promise((resolve) => setTimeout(resolve, intervalMs));
      await handle(items).catch(() => undefined);
      await pause;
    }
    running = false;
  };
  return (item) => {
    waiting.push(item);
    if (!running) void run();
  };
}
