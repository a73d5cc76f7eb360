/** Search parameters of the Memory page: the view and the filter. */
import { ORDERS, type Order } from "../../data/select.ts";

export const VIEWS = ["list", "board", "timeline", "shape", "markdown"] as const;
export type View = (typeof VIEWS)[number];

export interface MemoryParams {
  view?: View;
  text?: string;
  /** Searches `text` by meaning, as a chat would; otherwise its words have to occur. */
  how?: "meaning";
  status?: string;
  domain?: string;
  project?: string;
  category?: string;
  force?: string;
  tier?: string;
  tag?: string;
  from?: string;
  /** Order of the list within its groups; the latest change first if absent. */
  sort?: Order;
  /** Grouping of the list; by area if absent. */
  group?: "category";
  /** Time axis of the timeline; by validity if absent. */
  by?: "learned";
  /** The file that the markdown view shows. */
  file?: string;
  /** The memory in the side panel, and its open part. */
  one?: string;
  tab?: string;
  /** Whether the side panel shows the prompt of a new chat; a memory in the panel covers it. */
  prompt?: true;
  /** Shows what was true at this time. */
  as_of?: string;
  /** Shows what was known at this time. */
  known_at?: string;
}

const WORDS = [
  "text",
  "status",
  "domain",
  "project",
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

export function parseMemoryParams(params: Record<string, unknown>): MemoryParams {
  const search: MemoryParams = {};
  const view = VIEWS.find((one) => one === params.view);
  if (view && view !== "list") search.view = view;
  if (params.how === "meaning") search.how = "meaning";
  if (params.group === "category") search.group = "category";
  search.sort = ORDERS.find((one) => one === params.sort);
  if (!search.sort) delete search.sort;
  if (params.prompt === true) search.prompt = true;
  if (params.by === "learned") search.by = "learned";
  for (const word of WORDS) {
    // `text=12` is parsed as a number.
    const value = typeof params[word] === "number" ? String(params[word]) : params[word];
    if (typeof value === "string" && value) search[word] = value;
  }
  for (const time of TIMES) {
    const value = params[time];
    if (typeof value === "string" && !Number.isNaN(Date.parse(value))) search[time] = value;
  }
  return search;
}

/** The statuses that the current memories are shown of. A guess that waits for an answer has its own status. */
export function currentStatuses({ status, tier }: MemoryParams): readonly string[] {
  if (status) return [status];
  return tier === "candidate" ? ["active", "candidate"] : ["active"];
}

/** Whether a filter is set besides the tab. */
export function isFiltered(search: MemoryParams, isCurrent: boolean): boolean {
  const { text, domain, project, tier, tag, from, category, status } = search;
  return Boolean(
    text || domain || project || tier || tag || from || category || (isCurrent && status),
  );
}
