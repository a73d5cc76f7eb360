/** A memory that was true and is no more, as an update. Pure. */
import type { UpdateMemory } from "lukasa-client";

/** The change as an update: new text from a day on, or without text the end of the memory on that day. */
export function changeOf(text: string, since: string, now: Date): UpdateMemory {
  const today = localDay(now);
  // A change of today is true from this moment: at midnight the earlier text was still true.
  const at = since === today || !since ? undefined : `${since}T00:00:00Z`;
  if (!text) return { mode: "correction", valid_until: at ?? now.toISOString() };
  return { mode: "change", content: text, ...(at && { valid_from: at }) };
}

/** The day in the time zone of the browser, as a date field has it. */
export function localDay(now: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
