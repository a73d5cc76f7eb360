/** What the address of this page may carry after the question mark. */
export interface OneMemorySearch {
  tab?: string;
  /** What was true then. */
  as_of?: string;
  /** What was known then. */
  known_at?: string;
}

export function oneMemorySearch(said: Record<string, unknown>): OneMemorySearch {
  return {
    tab: typeof said.tab === "string" ? said.tab : undefined,
    as_of: typeof said.as_of === "string" ? said.as_of : undefined,
    known_at: typeof said.known_at === "string" ? said.known_at : undefined,
  };
}
