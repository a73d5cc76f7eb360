/**
 * The part of a prompt that a new chat begins with, as lines. Pure.
 */
import type { ContextView, MemoryView } from "lukasa-client";

export interface PromptLine {
  /** The same before and after a change: the ids of the memories, or the text of a heading. */
  key: string;
  text: string;
  /** The memories of the line: several if they were combined in a sentence, none in headings and instructions. */
  memories: readonly string[];
  /** Its size; absent in headings and instructions. */
  tokens?: number;
  kind: "heading" | "memory" | "instruction";
  /** Whether the line was there before, and is no longer. */
  gone?: boolean;
  /** Whether the line has a memory that was not there when the prompt was first read. */
  isNew?: boolean;
}

/** A heading and the lines under it. */
export interface PromptSection {
  /** Absent for lines before the first heading. */
  heading?: PromptLine;
  lines: PromptLine[];
}

/** `[m1]` at the start of the line of a memory. */
const MARK = /^-? ?\[(m\d+)\] ?/;

/** The lines of the baseline, without the markers around it. */
export function linesOf({ content, citations }: ContextView["baseline"]): PromptLine[] {
  const byMark = new Map(citations.map((one) => [one.mark, one]));
  return content.split("\n").flatMap((line): PromptLine[] => {
    const text = line.trim();
    if (!text || /^<\/?memory\b/.test(text)) return [];
    if (text.startsWith("#")) {
      const heading = text.replace(/^#+ */, "");
      return [{ key: heading, text: heading, memories: [], kind: "heading" }];
    }
    const cited = byMark.get(MARK.exec(text)?.[1] ?? "");
    if (!cited?.memory_id) return [{ key: text, text, memories: [], kind: "instruction" }];
    const memories = [cited.memory_id, ...(cited.also_memory_ids ?? [])];
    const { tokens } = cited;
    return [
      { key: memories.join(" "), text: text.replace(MARK, ""), memories, tokens, kind: "memory" },
    ];
  });
}

/**
 * The new lines, with those that are gone at their place: what was struck stays visible. A line whose memories are
 * all in other lines now is not gone, only combined or split.
 */
export function mergeLines(
  before: readonly PromptLine[],
  after: readonly PromptLine[],
): PromptLine[] {
  const known = new Set(before.flatMap((line) => (line.isNew ? [] : line.memories)));
  const there = new Set(after.map((line) => line.key));
  const included = new Set(after.flatMap((line) => line.memories));
  const merged: PromptLine[] = after.map((line) => ({
    ...line,
    isNew: line.memories.some((id) => !known.has(id)),
  }));
  before.forEach((line, at) => {
    if (there.has(line.key) || line.kind === "instruction") return;
    if (line.kind === "memory" && line.memories.every((id) => included.has(id))) return;
    const placeOf = ({ key }: PromptLine) => merged.findIndex((one) => one.key === key);
    const previous = before.slice(0, at).findLast((one) => placeOf(one) >= 0);
    merged.splice(previous ? placeOf(previous) + 1 : 0, 0, { ...line, gone: true });
  });
  return merged;
}

/** Whether a line is not in the prompt, or will not be: a memory of it is not active any more. */
export function isStruck(line: PromptLine, byId: ReadonlyMap<string, MemoryView>): boolean {
  const isInactive = (id: string) => (byId.get(id)?.status ?? "active") !== "active";
  return Boolean(line.gone) || line.memories.some(isInactive);
}

/** The lines of memories by heading. */
export function sectionsOf(lines: readonly PromptLine[]): PromptSection[] {
  const sections: PromptSection[] = [];
  for (const line of lines) {
    if (line.kind === "heading") sections.push({ heading: line, lines: [] });
    if (line.kind !== "memory") continue;
    const last = sections.at(-1);
    if (last) last.lines.push(line);
    else sections.push({ lines: [line] });
  }
  return sections.filter((section) => section.lines.length > 0);
}
