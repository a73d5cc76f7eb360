/** Import of a file: split into requests of a size that the server accepts, with their counts summed up. */
import type { CountsView, Lukasa } from "lukasa-client";
import { t } from "../i18n/index.ts";

/** Items per request. */
const ITEMS_PER_REQUEST = 500;
const NEWS = ["memories", "proposals", "links", "episodes", "chats", "turns"] as const;
const REST = ["known", "secrets", "left_out"] as const;

/** A file to import, split into requests. */
export interface ImportFile {
  name: string;
  /** Identifies the file, so that nothing is imported twice. */
  source: string;
  /** A Lukasa export as one file, or batches of item lines. */
  parts: (File | string)[];
}

export async function readImportFile(file: File): Promise<ImportFile> {
  const source = await digest(file);
  const name = file.name.slice(0, 255);
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  // "PK" is the start of a ZIP, whatever the file is called.
  if (start[0] === 0x50 && start[1] === 0x4b) return { name, source, parts: [file] };
  const lines = (await file.text()).split("\n").filter((line) => line.trim());
  const parts = [];
  for (let at = 0; at < lines.length; at += ITEMS_PER_REQUEST) {
    parts.push(lines.slice(at, at + ITEMS_PER_REQUEST).join("\n"));
  }
  return { name, source, parts };
}

async function digest(file: File): Promise<string> {
  // `crypto.subtle` needs a secure context; without one, name, size and date identify the file well enough.
  if (!crypto.subtle) return `${file.name}:${file.size}:${file.lastModified}`.slice(0, 255);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Imports the file, or with `dry_run` only counts what would be imported. */
export async function runImport(
  lukasa: Lukasa,
  { name, source, parts }: ImportFile,
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

/** Texts for the counts that are not zero. */
export function countTexts(counts: CountsView): string[] {
  return [...NEWS, ...REST]
    .filter((key) => counts[key] > 0)
    .map((key) => t(`data.count.${key}`, { count: counts[key] }));
}
