/** Undo of a change to the policy. Pure. */
import type { PolicyPatch } from "lukasa-client";

/** The value as text, whatever the order of its names. */
function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, (_, one: unknown) =>
    one && typeof one === "object" && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

const isSame = (a: unknown, b: unknown) => textOf(a) === textOf(b);

/** The policy with what a change wrote taken back; nothing if that was changed again since. */
export function takenBack(
  before: PolicyPatch,
  written: PolicyPatch,
  now: PolicyPatch,
): PolicyPatch | undefined {
  const result = new Map<string, unknown>(Object.entries(now));
  const old = new Map<string, unknown>(Object.entries(before));
  const wrote = new Map<string, unknown>(Object.entries(written));
  for (const name of new Set([...Object.keys(before), ...Object.keys(written)])) {
    const value = wrote.get(name);
    if (isSame(old.get(name), value)) continue;
    if (!isSame(result.get(name), value)) return undefined;
    if (old.has(name)) result.set(name, old.get(name));
    else result.delete(name);
  }
  return Object.fromEntries(result) as PolicyPatch;
}
