/** What the address of this page may carry after the question mark: the view and the filter. */
export const VIEWS = ["list", "board", "timeline", "markdown"] as const;
export type View = (typeof VIEWS)[number];

export interface MemorySearch {
  view?: View;
  text?: string;
  status?: string;
  domain?: string;
  category?: string;
  force?: string;
  tier?: string;
  tag?: string;
  from?: string;
}

const WORDS = ["text", "status", "domain", "category", "force", "tier", "tag", "from"] as const;

export function memorySearch(said: Record<string, unknown>): MemorySearch {
  const search: MemorySearch = {};
  const view = VIEWS.find((one) => one === said.view);
  if (view) search.view = view;
  for (const word of WORDS) {
    const value = said[word];
    if (typeof value === "string" && value) search[word] = value;
  }
  return search;
}
