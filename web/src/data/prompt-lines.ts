/**
 * The part of a prompt that every chat begins with, as lines. Pure.
 */
import type { ContextView } from "lukasa-client";

export interface PromptLine {
  /** The same before and after a change: the id of the memory, or the text of a heading. */
  key: string;
  text: string;
  /** The memory of the line, and its size; absent in headings and instructions. */
  memory?: string;
  tokens?: number;
  kind: "heading" | "memory" | "instruction";
  /** Whether the line was there before, and is no longer. */
  gone?: boolean;
  /** Whether the line was not there when it was first read. */
  isNew?: boolean;
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
      return [{ key: heading, text: heading, kind: "heading" }];
    }
    const cited = byMark.get(MARK.exec(text)?.[1] ?? "");
    if (!cited?.memory_id) return [{ key: text, text, kind: "instruction" }];
    const { memory_id: memory, tokens } = cited;
    return [{ key: memory, text: text.replace(MARK, ""), memory, tokens, kind: "memory" }];
  });
}

/** The new lines, with those that are gone at their place: what was struck stays visible. */
export function mergeLines(
  before: readonly PromptLine[],
  after: readonly PromptLine[],
): PromptLine[] {
  const known = new Map(before.map((line) => [line.key, line]));
  const there = new Set(after.map((line) => line.key));
  const merged: PromptLine[] = after.map((line) => {
    const was = known.get(line.key);
    return { ...line, isNew: line.kind === "memory" && (!was || was.isNew) };
  });
  before.forEach((line, at) => {
    if (there.has(line.key) || line.kind === "instruction") return;
    const place = merged.findIndex((one) => one.key === before[at - 1]?.key);
    merged.splice(place + 1, 0, { ...line, gone: true });
  });
  return merged;
}
