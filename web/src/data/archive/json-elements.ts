/**
 * Splits a stream of JSON into the elements of its outermost array, each parsed by itself: an export of some
 * hundred megabytes is never in memory as a whole. Several arrays, and objects outside of one, are read too.
 */

/** The longest element; a chat of this size would be a whole library. */
const MAX_ELEMENT_BYTES = 128 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** One element, or `undefined` for one that cannot be read. */
export type Element = { value: unknown } | undefined;

/** The objects of a JSON stream that are inside no other object. */
export async function* jsonElements(
  stream: ReadableStream<Uint8Array>,
  maxElementBytes = MAX_ELEMENT_BYTES,
): AsyncGenerator<Element> {
  const reader = stream.getReader();
  /** The bytes of the current element in earlier chunks. */
  let parts: Uint8Array[] = [];
  let partBytes = 0;
  let objects = 0;
  let arrays = 0;
  let inString = false;
  let escaped = false;
  try {
    for (;;) {
      const { done, value: chunk } = await reader.read();
      if (done) break;
      let start = objects > 0 ? 0 : -1;
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at];
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inString = false;
        } else if (byte === QUOTE) {
          inString = true;
        } else if (byte === OPEN_OBJECT) {
          if (objects === 0) start = at;
          objects++;
        } else if (byte === CLOSE_OBJECT && objects > 0) {
          objects--;
          if (objects === 0) {
            yield parse([...parts, chunk.subarray(start, at + 1)]);
            [parts, partBytes, start] = [[], 0, -1];
          }
        } else if (byte === OPEN_ARRAY && objects === 0) {
          arrays++;
        } else if (byte === CLOSE_ARRAY && objects === 0) {
          arrays--;
        }
      }
      if (start >= 0) {
        parts.push(chunk.slice(start));
        partBytes += chunk.length - start;
        if (partBytes > maxElementBytes) throw new RangeError("an entry is too long");
      }
    }
    // An export that ends in the middle is reported as one more unreadable entry.
    if (objects > 0 || arrays > 0 || inString) yield undefined;
  } finally {
    // Also when the caller stops early: the file is not read any further.
    await reader.cancel().catch(() => undefined);
  }
}

function parse(parts: Uint8Array[]): Element {
  const decoder = new TextDecoder();
  let text = "";
  for (const part of parts) text += decoder.decode(part, { stream: true });
  text += decoder.decode();
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
