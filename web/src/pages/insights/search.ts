/** What the address of this page may carry after the question mark. */
export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];

export interface InsightsSearch {
  /** How many days back; 30 if absent. */
  days?: Range;
  /** Every chart as a table. */
  table?: true;
}

export function insightsSearch(said: Record<string, unknown>): InsightsSearch {
  const search: InsightsSearch = {};
  const days = RANGES.find((one) => one === said.days);
  if (days) search.days = days;
  if (said.table === true) search.table = true;
  return search;
}
