/** What the address of this page may carry after the question mark. */
export interface PlaygroundSearch {
  /** The message to try. */
  query?: string;
}

export function playgroundSearch(said: Record<string, unknown>): PlaygroundSearch {
  return { query: typeof said.query === "string" ? said.query : undefined };
}
