/** Search parameters of the Insights page. */
export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];

export interface InsightsParams {
  /** How many days back; 30 if absent. */
  days?: Range;
  /** Every chart as a table. */
  table?: true;
  /** Whether the figures for developers are unfolded; they are with `table`. */
  figures?: true;
}

export function parseInsightsParams(params: Record<string, unknown>): InsightsParams {
  const search: InsightsParams = {};
  const days = RANGES.find((one) => one === params.days);
  if (days) search.days = days;
  if (params.table === true) search.table = true;
  if (params.figures === true) search.figures = true;
  return search;
}
