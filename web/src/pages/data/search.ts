/** What the address of this page may carry after the question mark. */
export interface DataSearch {
  tab?: string;
}

export function dataSearch(said: Record<string, unknown>): DataSearch {
  return { tab: typeof said.tab === "string" ? said.tab : undefined };
}
