/** What the address of this page may carry after the question mark. */
export interface ChatSearch {
  /** Nothing of this chat is kept. */
  incognito?: boolean;
}

export function chatSearch(said: Record<string, unknown>): ChatSearch {
  return { incognito: said.incognito === true || undefined };
}
