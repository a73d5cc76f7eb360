/** What the address of this page may carry after the question mark. */
export interface ReviewSearch {
  /** Only cards of this kind. */
  kind?: string;
}

export function reviewSearch(said: Record<string, unknown>): ReviewSearch {
  return { kind: typeof said.kind === "string" ? said.kind : undefined };
}
