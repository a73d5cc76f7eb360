/** Bringing in a file: cut into requests of a size that the server takes, and summed up again. */
import type { CountsView, Lukasa } from "lukasa-client";
import { t } from "../i18n/index.ts";

/** How many items one request may bring. */
const AT_ONCE = 500;
const NEWS = ["memories", "proposals", "links", "episodes", "chats", "turns"] as const;
const REST = ["known", "secrets", "left_out"] as const;

export interface Bringing {
  name: string;
  /** The same for the same file, so that nothing comes in twice. */
  source: string;
  /** An export of Lukasa as it is, or lines of items. */
  parts: (File | string)[];
}

export async function bringingOf(file: File): Promise<Bringing> {
  const source = await digest(file);
  const name = file.name.slice(0, 255);
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  // "PK": what begins a ZIP, whatever it is called.
  if (start[0] === 0x50 && start[1] === 0x4b) return { name, source, parts: [file] };
  const lines = (await file.text()).split("\n").filter((line) => line.trim());
  const parts = [];
  for (let at = 0; at < lines.length; at += AT_ONCE) {
    parts.push(lines.slice(at, at + AT_ONCE).join("\n"));
  }
  return { name, source, parts };
}

async function digest(file: File): Promise<string> {
  // Pages that came without TLS from another machine have no digests; this is nearly as good.
  if (!crypto.subtle) return `${file.name}:${file.size}:${file.lastModified}`.slice(0, 255);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Brings it in, or only says what would become of it. */
export async function bring(
  lukasa: Lukasa,
  { name, source, parts }: Bringing,
  dry_run: boolean,
): Promise<CountsView> {
  const sum = Object.fromEntries(
    [...NEWS, ...REST].map((key) => [key, 0]),
  ) as unknown as CountsView;
  for (const part of parts) {
    const taken = await lukasa.imports.take(part, { name, source, dry_run }, { timeout: 600_000 });
    for (const key of [...NEWS, ...REST]) sum[key] += taken.counts[key];
  }
  return sum;
}

/** The counts that are not zero, in words. */
export function tell(counts: CountsView): string[] {
  return [...NEWS, ...REST]
    .filter((key) => counts[key] > 0)
    .map((key) => t(`data.count.${key}`, { count: counts[key] }));
}
