/** What the address of this page may carry after the question mark. */
import { KINDS, type Kind } from "./deck.ts";

export interface ReviewSearch {
  /** Only cards of this kind. */
  kind?: Kind;
}

export function reviewSearch(said: Record<string, unknown>): ReviewSearch {
  return { kind: KINDS.find((kind) => kind === said.kind) };
}
