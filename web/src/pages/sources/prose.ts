/** The sentences of a portrait as prose. Pure. */

/** A part of a sentence, with the memories that it cites. */
export interface SentencePart {
  text: string;
  memories: readonly string[];
}

/**
 * The parts of a sentence. One of the template lists what several memories say, in their order: "Lives in Lyon;
 * has two cats." Each part becomes a sentence with its own citation; after the lead of a likely one they stay one
 * sentence. A model may order or combine what it cites, so its sentence stays whole and cites all its memories.
 */
export function partsOf(
  { text, memory_ids }: { text: string; memory_ids: readonly string[] },
  { likely, byTemplate }: { likely: boolean; byTemplate: boolean },
): SentencePart[] {
  const parts = text.split("; ");
  if (!byTemplate || parts.length !== memory_ids.length)
    return [{ text: begin(text, likely), memories: memory_ids }];
  return parts.map((part, at) => ({
    text: likely ? ended(part, at < parts.length - 1 ? "," : "") : begin(ended(part, "."), false),
    memories: memory_ids.slice(at, at + 1),
  }));
}

function ended(part: string, mark: string): string {
  return /[.!?…]$/.test(part) ? part : `${part}${mark}`;
}

function begin(text: string, likely: boolean): string {
  return likely ? text : text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
