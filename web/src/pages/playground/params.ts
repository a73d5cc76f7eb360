/**
 * Search parameters of the Playground page: the message and the settings, so that a link reproduces the
 * request.
 */
export const BUDGETS = ["compact", "standard", "deep"] as const;
export type Budget = (typeof BUDGETS)[number] | number;

/** The settings of a request. Absent fields use the server's defaults. */
export interface Setting {
  session?: string;
  budget?: Budget;
  window?: number;
  domains?: string[];
  as_of?: string;
  known_at?: string;
  precise?: boolean;
  /** Search also for a message that calls for no search, such as "thanks". */
  anyway?: true;
  /** False to use a fresh baseline instead of the chat's frozen one. */
  freeze?: false;
  /** Fusion by ranks, for the ranking only; a context always fuses by scores. */
  fusion?: "ranks";
  /** False to skip the reranker; for the ranking only. */
  rerank?: false;
}

export interface PlaygroundParams extends Setting {
  /** The message to try. */
  query?: string;
  /** The second setting of a comparison. */
  against?: Setting;
  /** The ranks as a table instead of lines. */
  table?: true;
}

export function parsePlaygroundParams(params: Record<string, unknown>): PlaygroundParams {
  const search: PlaygroundParams = settingOf(params);
  if (typeof params.query === "string" && params.query) search.query = params.query;
  // A message of digits alone is parsed as a number.
  if (typeof params.query === "number") search.query = String(params.query);
  if (isRecord(params.against)) search.against = settingOf(params.against);
  if (params.table === true) search.table = true;
  return search;
}

function settingOf(params: Record<string, unknown>): Setting {
  const setting: Setting = {};
  if (typeof params.session === "string" && params.session) setting.session = params.session;
  if (typeof params.session === "number") setting.session = String(params.session);
  const budget = BUDGETS.find((one) => one === params.budget) ?? positive(params.budget);
  if (budget) setting.budget = budget;
  const window = positive(params.window);
  if (window) setting.window = window;
  if (Array.isArray(params.domains)) {
    const domains = params.domains.filter((one): one is string => typeof one === "string");
    if (domains.length > 0) setting.domains = domains;
  }
  for (const axis of ["as_of", "known_at"] as const) {
    const at = params[axis];
    if (typeof at === "string" && !Number.isNaN(Date.parse(at))) setting[axis] = at;
  }
  if (params.precise === true) setting.precise = true;
  if (params.anyway === true) setting.anyway = true;
  if (params.freeze === false) setting.freeze = false;
  if (params.fusion === "ranks") setting.fusion = "ranks";
  if (params.rerank === false) setting.rerank = false;
  return setting;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
