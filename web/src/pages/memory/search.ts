/** What the address of this page may carry after the question mark: the view and the filter. */
export const VIEWS = ["list", "board", "timeline", "markdown"] as const;
export type View = (typeof VIEWS)[number];

export interface MemorySearch {
  view?: View;
  text?: string;
  /** Finds by meaning what `text` asks, as a chat would; otherwise its words have to occur. */
  how?: "meaning";
  status?: string;
  domain?: string;
  category?: string;
  force?: string;
  tier?: string;
  tag?: string;
  from?: string;
  /** What the list is grouped by, if not by category. */
  group?: "domain";
  /** What the timeline goes by, if not by when it is true. */
  by?: "learned";
  /** The file that the markdown view shows. */
  file?: string;
  /** The memory in the panel at the side, and the part of it that was asked for. */
  one?: string;
  tab?: string;
  /** What was true then. */
  as_of?: string;
  /** What was known then. */
  known_at?: string;
}

const WORDS = [
  "text",
  "status",
  "domain",
  "category",
  "force",
  "tier",
  "tag",
  "from",
  "file",
  "one",
  "tab",
] as const;
const TIMES = ["as_of", "known_at"] as const;

export function memorySearch(said: Record<string, unknown>): MemorySearch {
  const search: MemorySearch = {};
  const view = VIEWS.find((one) => one === said.view);
  if (view && view !== "list") search.view = view;
  if (said.how === "meaning") search.how = "meaning";
  if (said.group === "domain") search.group = "domain";
  if (said.by === "learned") search.by = "learned";
  for (const word of WORDS) {
    // An address may say `text=12`, which arrives as a number.
    const value = typeof said[word] === "number" ? String(said[word]) : said[word];
    if (typeof value === "string" && value) search[word] = value;
  }
  for (const time of TIMES) {
    const value = said[time];
    if (typeof value === "string" && !Number.isNaN(Date.parse(value))) search[time] = value;
  }
  return search;
}
