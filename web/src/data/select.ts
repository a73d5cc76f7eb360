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
  /** The project, or an empty text for memories of none. */
  project?: string;
  category?: string;
  force?: string;
  certainty?: string;
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

/** How certain a memory is, as shown to users. */
export type Certainty = "confirmed" | "unused" | "strong" | "tentative" | "candidate";

const OWN_ORIGINS = ["user_said", "user_turn"];

/**
 * The certainty of a memory. What the user agreed to is confirmed, whatever its tier; what came from elsewhere
 * is in no prompt until the user agrees, as on the server.
 */
export function certaintyOf(
  memory: Pick<MemoryView, "origin" | "confidence" | "consented_at" | "tier" | "status">,
): Certainty {
  if (memory.consented_at) return "confirmed";
  const extracted = memory.confidence !== null && memory.confidence !== undefined;
  const own = OWN_ORIGINS.includes(memory.origin) || (memory.origin === "assistant" && !extracted);
  if (!own && memory.status === "active") return "unused";
  return memory.tier === "strong" || memory.tier === "tentative" ? memory.tier : "candidate";
}

export function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

export function select(memories: readonly MemoryView[], filter: Filter): MemoryView[] {
  const words = wordsOf(filter.text ?? "");
  return memories.filter(
    (memory) =>
      (!filter.status || filter.status.includes(memory.status)) &&
      (filter.domain === undefined || (memory.domain ?? "") === filter.domain) &&
      (filter.project === undefined || (memory.project ?? "") === filter.project) &&
      (!filter.category || memory.category === filter.category) &&
      (!filter.force || memory.force === filter.force) &&
      (!filter.certainty || certaintyOf(memory) === filter.certainty) &&
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
    const { content, summary, domain, project, key, tags } = memory;
    const names = [content, summary, domain, project, key, ...tags];
    text = plain(names.map((name) => name ?? "").join(" "));
    texts.set(memory, text);
  }
  return text;
}

function occur(words: string[], memory: MemoryView): boolean {
  const text = textOf(memory);
  return words.every((word) => text.includes(word));
}

/** The words of a search text, as they are compared. */
export function wordsOf(text: string): string[] {
  return plain(text).split(/\s+/).filter(Boolean);
}

/** Where the words occur in a text, as ranges of its characters that do not overlap, in their order. */
export function matchesIn(text: string, words: readonly string[]): [number, number][] {
  // Normalizing changes the length, so every character of the plain text remembers its place.
  let folded = "";
  const places: number[] = [];
  let at = 0;
  for (const letter of text) {
    const same = plain(letter);
    folded += same;
    for (let unit = 0; unit < same.length; unit++) places.push(at);
    at += letter.length;
  }
  places.push(text.length);
  const hits = new Set<number>();
  for (const word of words) {
    for (let from = folded.indexOf(word); from >= 0; from = folded.indexOf(word, from + 1)) {
      for (let place = from; place < from + word.length; place++) hits.add(place);
    }
  }
  const ranges: [number, number][] = [];
  for (const place of [...hits].sort((a, b) => a - b)) {
    const [from, to] = [places[place] ?? 0, places[place + 1] ?? text.length];
    const last = ranges.at(-1);
    if (last && last[1] >= from) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

/** The orders of the list; by the latest change if absent. */
export const ORDERS = ["oldest", "text", "used"] as const;
export type Order = (typeof ORDERS)[number];

/** Sorts in an order that the user chose. */
export function ordered(
  memories: readonly MemoryView[],
  order: Order,
  uses: ReadonlyMap<string, number> = new Map(),
): MemoryView[] {
  if (order === "used")
    return newest(memories).sort((a, b) => (uses.get(b.id) ?? 0) - (uses.get(a.id) ?? 0));
  if (order === "oldest")
    return [...memories].sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const { compare } = new Intl.Collator();
  return [...memories].sort((a, b) => compare(a.content, b.content));
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
