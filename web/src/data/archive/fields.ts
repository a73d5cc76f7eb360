/** Reads fields of unknown JSON: texts, lists and dates. Pure, except that a digest is computed by the browser. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first of these fields with a text that is not empty. */
export function textOf(value: unknown, ...fields: string[]): string | undefined {
  if (!isObject(value)) return undefined;
  for (const field of fields) {
    const found = value[field];
    if (typeof found === "string" && found.trim()) return found.trim();
  }
  return undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A time: seconds since 1970, or a date as text. */
export function timeOf(value: unknown): string | undefined {
  const at =
    typeof value === "number"
      ? new Date(value * 1_000)
      : typeof value === "string"
        ? new Date(value.trim())
        : undefined;
  if (!at || Number.isNaN(at.getTime())) return undefined;
  const year = at.getUTCFullYear();
  return year >= 1900 && year <= 2999 ? at.toISOString() : undefined;
}

/** An id for an entry without one: a digest of its text, ignoring case and outer space. */
export async function digestOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text.trim().toLowerCase());
  return (await hashOf(bytes)).slice(0, 32);
}

/** SHA-256 in hexadecimal digits. Pages without https have no `crypto.subtle` and get a simpler hash. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!crypto.subtle) return simpleHash(bytes);
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Four FNV-1a hashes with different starts: enough to tell the chats of one user apart. */
function simpleHash(bytes: Uint8Array): string {
  const hashes = Uint32Array.of(0x811c9dc5, 0x01000193, 0xdeadbeef, 0x9e3779b9);
  for (const byte of bytes) {
    for (let at = 0; at < hashes.length; at++) {
      hashes[at] = Math.imul((hashes[at] ?? 0) ^ byte, 0x01000193);
    }
  }
  return hex(new Uint8Array(hashes.buffer));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
