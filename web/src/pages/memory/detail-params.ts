/** Search parameters of the one memory page. */
export interface MemoryDetailParams {
  tab?: string;
  /** Shows what was true at this time. */
  as_of?: string;
  /** Shows what was known at this time. */
  known_at?: string;
}

export function parseMemoryDetailParams(params: Record<string, unknown>): MemoryDetailParams {
  return {
    tab: typeof params.tab === "string" ? params.tab : undefined,
    as_of: typeof params.as_of === "string" ? params.as_of : undefined,
    known_at: typeof params.known_at === "string" ? params.known_at : undefined,
  };
}
