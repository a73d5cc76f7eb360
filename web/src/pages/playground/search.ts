/**
 * What the address of this page may carry after the question mark: the message, and the settings it is
 * asked with, so that a link shows somebody else the same.
 */
export const BUDGETS = ["compact", "standard", "deep"] as const;
export type Budget = (typeof BUDGETS)[number] | number;

/** Everything that changes the answer, besides the message. What is absent is as the server has it. */
export interface Setting {
  session?: string;
  budget?: Budget;
  window?: number;
  domains?: string[];
  as_of?: string;
  known_at?: string;
  precise?: boolean;
  /** False for a baseline that follows every change. */
  freeze?: false;
  /** How the arms are brought together; for the ranks only, a context is always made by scores. */
  fusion?: "ranks";
  /** False for the order before the reranker; for the ranks only. */
  rerank?: false;
}

export interface PlaygroundSearch extends Setting {
  /** The message to try. */
  query?: string;
  /** The other setting, while two are compared. */
  against?: Setting;
  /** The ranks as a table instead of lines. */
  table?: true;
}

export function playgroundSearch(said: Record<string, unknown>): PlaygroundSearch {
  const search: PlaygroundSearch = settingOf(said);
  if (typeof said.query === "string" && said.query) search.query = said.query;
  // A message of digits alone comes out of an address as a number.
  if (typeof said.query === "number") search.query = String(said.query);
  if (isRecord(said.against)) search.against = settingOf(said.against);
  if (said.table === true) search.table = true;
  return search;
}

function settingOf(said: Record<string, unknown>): Setting {
  const setting: Setting = {};
  if (typeof said.session === "string" && said.session) setting.session = said.session;
  if (typeof said.session === "number") setting.session = String(said.session);
  const budget = BUDGETS.find((one) => one === said.budget) ?? positive(said.budget);
  if (budget) setting.budget = budget;
  const window = positive(said.window);
  if (window) setting.window = window;
  if (Array.isArray(said.domains)) {
    const domains = said.domains.filter((one): one is string => typeof one === "string");
    if (domains.length > 0) setting.domains = domains;
  }
  for (const axis of ["as_of", "known_at"] as const) {
    const at = said[axis];
    if (typeof at === "string" && !Number.isNaN(Date.parse(at))) setting[axis] = at;
  }
  if (said.precise === true) setting.precise = true;
  if (said.freeze === false) setting.freeze = false;
  if (said.fusion === "ranks") setting.fusion = "ranks";
  if (said.rerank === false) setting.rerank = false;
  return setting;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
