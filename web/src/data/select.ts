/**
 * Filters, sorts and groups memories. Pure: every view of the Memory page uses one filtered set, and ten
 * thousand rows are filtered with every key press.
 */
import type { MemoryView } from "lukasa-client";

export interface Filter {
  /** Words that all must occur, ignoring case and accents. */
  text?: string;
  status?: readonly string[];
  domain?: string;
  category?: string;
  force?: string;
  tier?: string;
  tag?: string;
  from?: Source;
}

/** Where a memory came from, as shown to users. */
export type Source = "said" | "assistant" | "inferred" | "imported";

export function sourceOf(memory: Pick<MemoryView, "origin" | "confidence">): Source {
  if (memory.origin === "import" || memory.origin === "document") return "imported";
  // Stated memories have no confidence; extracted ones have one.
  if (memory.confidence !== null && memory.confidence !== undefined) return "inferred";
  return memory.origin === "user_said" || memory.origin === "user_turn" ? "said" : "assistant";
}

export function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

export function select(memories: readonly MemoryView[], filter: Filter): MemoryView[] {
  const words = plain(filter.text ?? "")
    .split(/\s+/)
    .filter(Boolean);
  return memories.filter(
    (memory) =>
      (!filter.status || filter.status.includes(memory.status)) &&
      (!filter.domain || (memory.domain ?? "") === filter.domain) &&
      (!filter.category || memory.category === filter.category) &&
      (!filter.force || memory.force === filter.force) &&
      (!filter.tier || memory.tier === filter.tier) &&
      (!filter.tag || memory.tags.includes(filter.tag)) &&
      (!filter.from || sourceOf(memory) === filter.from) &&
      (words.length === 0 || occur(words, memory)),
  );
}

/** Normalized search text by memory. A changed memory is another object, so the cache is never stale. */
const texts = new WeakMap<MemoryView, string>();

function textOf(memory: MemoryView): string {
  let text = texts.get(memory);
  if (text === undefined) {
    const { content, summary, domain, key, tags } = memory;
    text = plain(`${content} ${summary ?? ""} ${domain ?? ""} ${key ?? ""} ${tags.join(" ")}`);
    texts.set(memory, text);
  }
  return text;
}

function occur(words: string[], memory: MemoryView): boolean {
  const text = textOf(memory);
  return words.every((word) => text.includes(word));
}

export interface Group {
  name: string;
  memories: MemoryView[];
}

/** Groups by a key of each memory, in the order of `first` and then by name. */
export function group(
  memories: readonly MemoryView[],
  by: (memory: MemoryView) => string,
  first: readonly string[] = [],
): Group[] {
  const groups = new Map<string, MemoryView[]>();
  for (const memory of memories) {
    const name = by(memory);
    const there = groups.get(name);
    if (there) there.push(memory);
    else groups.set(name, [memory]);
  }
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...groups]
    .map(([name, found]) => ({ name, memories: found }))
    .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

/** Sorts by the latest change first, then by id. */
export function newest(memories: readonly MemoryView[]): MemoryView[] {
  // Plain comparison: timestamps need no collation, which is twenty times slower.
  const later = (a: string, b: string) => (a < b ? 1 : a > b ? -1 : 0);
  return [...memories].sort((a, b) => later(a.updated_at, b.updated_at) || later(a.id, b.id));
}

/** Counts the values of a field, for badges and filters. */
export function count(
  memories: readonly MemoryView[],
  by: (memory: MemoryView) => string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const memory of memories) counts.set(by(memory), (counts.get(by(memory)) ?? 0) + 1);
  return counts;
}
