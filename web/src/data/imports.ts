/** Import of a file: read and split into requests of a size that the server accepts, with their counts summed up. */
import type { CountsView, EstimateView, Lukasa } from "lukasa-client";
import { ShownError } from "../base/problems.ts";
import { t } from "../i18n/index.ts";
import { hashOf } from "./archive/fields.ts";
import { addFound, emptyFound, type Found } from "./archive/found.ts";
import { batchesOf, type ImportItem } from "./archive/items.ts";
import { type ChatExport, openJson, openZip, readItems } from "./archive/open.ts";
import { isZip, ZipError } from "./archive/zip.ts";

/** Items per request. */
const ITEMS_PER_REQUEST = 500;
const REQUEST_TIMEOUT_MS = 600_000;
const NEWS = ["memories", "proposals", "links", "episodes", "chats", "turns"] as const;
const REST = ["known", "secrets", "left_out"] as const;

/** A file to import. */
export type ImportFile = { name: string } & (
  | { kind: "chats"; chats: ChatExport }
  | {
      kind: "parts";
      /** Identifies the file, so that nothing is imported twice. */
      source: string;
      /** A Lukasa export as one file, or batches of item lines. */
      parts: (File | string)[];
    }
);

export interface ImportResult {
  importId: string;
  counts: CountsView;
  /** What learning from its chats takes; zeroes without a model. */
  estimate: EstimateView;
  /** What was in an export of another assistant. */
  found?: Found;
}

export interface ImportProgress {
  /** The part that is done, from 0 to 1. */
  done: number;
  /** Chats and memories so far. */
  items: number;
}

export interface ImportOptions {
  /** Only count what would be imported. */
  dryRun: boolean;
  signal?: AbortSignal;
  onProgress?: (progress: ImportProgress) => void;
}

export async function readImportFile(file: File): Promise<ImportFile> {
  const name = file.name.slice(0, 255);
  if (await isZip(file)) {
    const found = await openZip(file).catch(explainZip);
    if (found === "unknown") throw new ShownError(t("data.import.unknownZip"));
    if (found !== "lukasa") return { kind: "chats", name, chats: found };
    return { kind: "parts", name, source: await digest(file), parts: [file] };
  }
  const chats = await openJson(file);
  if (chats) return { kind: "chats", name, chats };
  const lines = (await file.text()).split("\n").filter((line) => line.trim());
  const parts = [];
  for (let at = 0; at < lines.length; at += ITEMS_PER_REQUEST) {
    parts.push(lines.slice(at, at + ITEMS_PER_REQUEST).join("\n"));
  }
  return { kind: "parts", name, source: await digest(file), parts };
}

function explainZip(error: unknown): never {
  throw error instanceof ZipError ? new ShownError(t("data.import.damagedZip")) : error;
}

async function digest(file: File): Promise<string> {
  return hashOf(new Uint8Array(await file.arrayBuffer()));
}

/** Imports the file, or with `dryRun` only counts what would be imported. */
export async function runImport(
  lukasa: Lukasa,
  file: ImportFile,
  options: ImportOptions,
): Promise<ImportResult> {
  const { dryRun, signal } = options;
  const sum: ImportResult = {
    importId: "",
    counts: zeroes([...NEWS, ...REST]) as unknown as CountsView,
    estimate: zeroes(ESTIMATE) as unknown as EstimateView,
  };
  const send = async (part: File | string, query: { format?: string; source: string }) => {
    const taken = await lukasa.imports.create(
      part,
      { ...query, name: file.name, dry_run: dryRun },
      { signal, timeout: REQUEST_TIMEOUT_MS },
    );
    sum.importId = taken.import_id;
    for (const key of [...NEWS, ...REST]) sum.counts[key] += taken.counts[key];
    for (const key of ESTIMATE) sum.estimate[key] += taken.estimate[key];
  };
  if (file.kind === "parts") {
    for (const part of file.parts) await send(part, { source: file.source });
    return sum;
  }
  sum.found = emptyFound();
  await sendChats(file.chats, sum.found, options, send).catch(explainZip);
  return sum;
}

const ESTIMATE = ["calls", "input_tokens", "output_tokens", "cost_micros", "seconds"] as const;

function zeroes(keys: readonly string[]): Record<string, number> {
  return Object.fromEntries(keys.map((key) => [key, 0]));
}

/** Reads an export and sends each batch while the next one is not read yet: memory stays small. */
async function sendChats(
  chats: ChatExport,
  found: Found,
  { signal, onProgress }: ImportOptions,
  send: (part: string, query: { format: string; source: string }) => Promise<void>,
): Promise<void> {
  let done = 0;
  const items = async function* (): AsyncGenerator<ImportItem> {
    const read = readItems(chats, {
      signal,
      onBytes: (bytes) => {
        done = chats.bytes > 0 ? bytes / chats.bytes : 1;
      },
      onUnread: () => {
        found.unread++;
      },
    });
    for await (const item of read) {
      addFound(found, item);
      yield item;
    }
  };
  for await (const lines of batchesOf(items())) {
    await send(lines, { format: chats.vendor, source: chats.source });
    onProgress?.({ done, items: found.chats + found.memories });
  }
}

/** Texts for the counts that are not zero. */
export function countTexts(counts: CountsView): string[] {
  return [...NEWS, ...REST]
    .filter((key) => counts[key] > 0)
    .map((key) => t(`data.count.${key}`, { count: counts[key] }));
}
