/**
 * Reads single files of a ZIP in the browser, without loading the ZIP into memory: the directory at its end, then
 * each file as a stream. Everything a ZIP declares is checked against limits.
 */

export interface ZipEntry {
  name: string;
  /** 0: stored, 8: deflated. */
  method: number;
  packedBytes: number;
  bytes: number;
  /** Where its local header is. */
  offset: number;
}

export interface ZipDirectory {
  entries: ZipEntry[];
  /** The bytes of the directory. It has the checksum of every file, so its hash identifies the ZIP's content. */
  bytes: Uint8Array<ArrayBuffer>;
}

const MAX_ENTRIES = 200_000;
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
/** The largest file that is unpacked. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** How many times larger than packed a file may be; chats are at most some twenty times larger. */
const MAX_RATIO = 200;
/** Small files may have any ratio. */
const MIN_RATIO_BYTES = 1024 * 1024;

const END_SIGNATURE = 0x06054b50;
const END64_SIGNATURE = 0x06064b50;
const LOCATOR64_SIGNATURE = 0x07064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const LOCATOR64_BYTES = 20;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 0xffff;
/** The value of a 32-bit field whose real value is in the ZIP64 extension. */
const IN_ZIP64 = 0xffffffff;
const ENCRYPTED = 1;
const UTF8_NAME = 0x800;

/** A file that is not a ZIP, is damaged, or exceeds a limit. */
export class ZipError extends Error {
  override name = "ZipError";
}

/** Whether a file starts like a ZIP, whatever it is called. */
export async function isZip(file: Blob): Promise<boolean> {
  const start = await viewOf(file, 0, Math.min(4, file.size));
  return start.byteLength === 4 && [LOCAL_SIGNATURE, END_SIGNATURE].includes(u32(start, 0));
}

export async function readDirectory(file: Blob): Promise<ZipDirectory> {
  const { count, size, offset } = await findDirectory(file);
  if (count > MAX_ENTRIES || size > MAX_DIRECTORY_BYTES) throw new ZipError("too many files");
  const view = await viewOf(file, offset, offset + size);
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let number = 0; number < count; number++) {
    if (at + ENTRY_BYTES > view.byteLength || u32(view, at) !== ENTRY_SIGNATURE) throw damaged();
    const nameBytes = u16(view, at + 28);
    const extraBytes = u16(view, at + 30);
    const next = at + ENTRY_BYTES + nameBytes + extraBytes + u16(view, at + 32);
    if (next > view.byteLength) throw damaged();
    entries.push(readEntry(view, at, nameBytes, extraBytes));
    at = next;
  }
  return { entries, bytes: new Uint8Array(view.buffer) };
}

/** The content of a file. The stream fails if it is larger than declared, or than the limits allow. */
export async function openEntry(file: Blob, entry: ZipEntry): Promise<ReadableStream<Uint8Array>> {
  if (entry.bytes > MAX_FILE_BYTES) throw new ZipError("a file in it is too large");
  if (entry.bytes > Math.max(entry.packedBytes * MAX_RATIO, MIN_RATIO_BYTES)) {
    throw new ZipError("a file in it expands too much");
  }
  const local = await viewOf(file, entry.offset, entry.offset + LOCAL_BYTES);
  if (local.byteLength < LOCAL_BYTES || u32(local, 0) !== LOCAL_SIGNATURE) throw damaged();
  const start = entry.offset + LOCAL_BYTES + u16(local, 26) + u16(local, 28);
  if (start + entry.packedBytes > file.size) throw damaged();
  const packed = file.slice(start, start + entry.packedBytes).stream();
  if (entry.method === 0) return packed.pipeThrough(atMost(entry.bytes));
  return packed
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .pipeThrough(atMost(entry.bytes));
}

function readEntry(view: DataView, at: number, nameBytes: number, extraBytes: number): ZipEntry {
  const flags = u16(view, at + 8);
  const method = u16(view, at + 10);
  const name = new Uint8Array(view.buffer, view.byteOffset + at + ENTRY_BYTES, nameBytes);
  const entry: ZipEntry = {
    name: new TextDecoder(flags & UTF8_NAME ? "utf-8" : "latin1").decode(name),
    // An encrypted file, or one of another method, gets a method that `openEntry` never sees.
    method: flags & ENCRYPTED ? -1 : method,
    packedBytes: u32(view, at + 20),
    bytes: u32(view, at + 24),
    offset: u32(view, at + 42),
  };
  // The ZIP64 extension has the 64-bit values of the fields that do not fit, in this order.
  const end = at + ENTRY_BYTES + nameBytes + extraBytes;
  for (let extra = at + ENTRY_BYTES + nameBytes; extra + 4 <= end; ) {
    const size = u16(view, extra + 2);
    if (extra + 4 + size > end) throw damaged();
    if (u16(view, extra) === 1) {
      let field = extra + 4;
      for (const key of ["bytes", "packedBytes", "offset"] as const) {
        if (entry[key] !== IN_ZIP64) continue;
        if (field + 8 > extra + 4 + size) throw damaged();
        entry[key] = u64(view, field);
        field += 8;
      }
    }
    extra += 4 + size;
  }
  return entry;
}

/** Whether a file can be read: neither encrypted nor compressed by a rare method. */
export function isReadable(entry: ZipEntry): boolean {
  return entry.method === 0 || entry.method === 8;
}

async function findDirectory(file: Blob): Promise<{ count: number; size: number; offset: number }> {
  const from = Math.max(0, file.size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await viewOf(file, from, file.size);
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && u32(tail, end) !== END_SIGNATURE) end--;
  if (end < 0) throw damaged();
  const found = {
    count: u16(tail, end + 10),
    size: u32(tail, end + 12),
    offset: u32(tail, end + 16),
  };
  const locator = end - LOCATOR64_BYTES;
  if (locator < 0 || u32(tail, locator) !== LOCATOR64_SIGNATURE) return found;
  const at = u64(tail, locator + 8);
  const end64 = await viewOf(file, at, at + 56);
  if (end64.byteLength < 56 || u32(end64, 0) !== END64_SIGNATURE) throw damaged();
  return { count: u64(end64, 32), size: u64(end64, 40), offset: u64(end64, 48) };
}

/** Fails when more bytes arrive than declared, and when fewer did at the end. */
function atMost(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.length;
      if (seen > bytes) throw damaged();
      controller.enqueue(chunk);
    },
    flush() {
      if (seen !== bytes) throw damaged();
    },
  });
}

async function viewOf(file: Blob, from: number, to: number): Promise<DataView<ArrayBuffer>> {
  return new DataView(await file.slice(from, to).arrayBuffer());
}

function damaged(): ZipError {
  return new ZipError("it is damaged or incomplete");
}

function u16(view: DataView, at: number): number {
  return view.getUint16(at, true);
}

function u32(view: DataView, at: number): number {
  return view.getUint32(at, true);
}

function u64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  if (value > Number.MAX_SAFE_INTEGER) throw damaged();
  return Number(value);
}
