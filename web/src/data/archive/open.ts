/**
 * Recognises an export of another assistant by its content, and reads its chats and memories one after the other.
 */
import { chatGptChat } from "./chatgpt.ts";
import { claudeChat, claudeMemories } from "./claude.ts";
import { hashOf, isObject } from "./fields.ts";
import type { ImportItem } from "./items.ts";
import { jsonElements } from "./json-elements.ts";
import { isReadable, openEntry, readDirectory, type ZipEntry } from "./zip.ts";

export type Vendor = "chatgpt" | "claude";

/** An export of ChatGPT or Claude. */
export interface ChatExport {
  vendor: Vendor;
  /** Identifies the file: requests with the same value belong to one import. */
  source: string;
  /** What is read, in bytes, for the progress. */
  bytes: number;
  /** Its files in order; each is opened again for each pass. */
  files: readonly ExportFile[];
}

interface ExportFile {
  holds: "chats" | "memories";
  open: () => Promise<ReadableStream<Uint8Array>>;
}

/** A large export has several numbered files of chats. */
const CHATS = /(?:^|\/)conversations(?:[-_]\d+)?\.json$/;
const MEMORIES = /(?:^|\/)memories\.json$/;
const MANIFEST = /^manifest\.json$/;
/** A JSON file up to this size is identified by its content, a larger one by name, size and date. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** What a ZIP is: an export of Lukasa, of an assistant, or something else. */
export async function openZip(file: Blob): Promise<ChatExport | "lukasa" | "unknown"> {
  const { entries, bytes } = await readDirectory(file);
  const named = (pattern: RegExp) =>
    entries
      .filter((entry) => isReadable(entry) && pattern.test(entry.name))
      .sort((one, other) => one.name.localeCompare(other.name));
  if (named(MANIFEST).length > 0) return "lukasa";
  const of = (entry: ZipEntry, holds: ExportFile["holds"]): ExportFile => ({
    holds,
    open: () => openEntry(file, entry),
  });
  const [chats, memories] = [named(CHATS), named(MEMORIES)];
  const files = [
    ...chats.map((entry) => of(entry, "chats")),
    ...memories.map((entry) => of(entry, "memories")),
  ];
  const vendor = await vendorOf(files);
  if (!vendor) return "unknown";
  return {
    vendor,
    source: await hashOf(bytes),
    bytes: [...chats, ...memories].reduce((sum, entry) => sum + entry.bytes, 0),
    // Only Claude exports its memories.
    files: files.filter((one) => vendor === "claude" || one.holds === "chats"),
  };
}

/** A `conversations.json` or `memories.json` without its ZIP; `undefined` for any other file. */
export async function openJson(file: File): Promise<ChatExport | undefined> {
  for (const holds of ["chats", "memories"] as const) {
    const files: ExportFile[] = [{ holds, open: async () => file.stream() }];
    const vendor = await vendorOf(files);
    if (!vendor) continue;
    const source =
      file.size <= MAX_HASHED_BYTES
        ? await hashOf(new Uint8Array(await file.arrayBuffer()))
        : `${file.name}:${file.size}:${file.lastModified}`.slice(0, 255);
    return { vendor, source, bytes: file.size, files };
  }
  return undefined;
}

/** Which assistant wrote the files, by the first entry that shows it. */
async function vendorOf(files: readonly ExportFile[]): Promise<Vendor | undefined> {
  for (const { holds, open } of files) {
    for await (const element of jsonElements(await open())) {
      const value = element?.value;
      if (!isObject(value)) break;
      if (holds === "chats" && isObject(value.mapping)) return "chatgpt";
      if (holds === "chats" && Array.isArray(value.chat_messages)) return "claude";
      const isMemory = "conversations_memory" in value || "project_memories" in value;
      if (holds === "memories" && isMemory) return "claude";
      break;
    }
  }
  return undefined;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** Called with the number of bytes that were read. */
  onBytes?: (bytes: number) => void;
  /** Called for an entry that could not be read, or has no message. */
  onUnread?: () => void;
}

/** The chats and memories of an export, in the order of the file. */
export async function* readItems(
  { vendor, files }: ChatExport,
  { signal, onBytes, onUnread }: ReadOptions = {},
): AsyncGenerator<ImportItem> {
  const chatOf = vendor === "chatgpt" ? chatGptChat : claudeChat;
  let bytes = 0;
  for (const file of files) {
    const counted = (await file.open()).pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          onBytes?.(bytes);
          controller.enqueue(chunk);
        },
      }),
    );
    for await (const element of jsonElements(counted)) {
      signal?.throwIfAborted();
      const items =
        file.holds === "memories"
          ? await claudeMemories(element?.value)
          : [await chatOf(element?.value)].filter((item) => item !== undefined);
      if (items.length === 0) onUnread?.();
      yield* items;
    }
  }
}
