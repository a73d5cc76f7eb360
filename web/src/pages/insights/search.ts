/** What the address of this page may carry after the question mark. */
export interface InsightsSearch {
  /** How many days back. */
  days?: number;
}

export function insightsSearch(said: Record<string, unknown>): InsightsSearch {
  return { days: typeof said.days === "number" ? said.days : undefined };
}
