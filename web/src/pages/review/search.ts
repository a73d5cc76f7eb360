/** Search parameters of the Review page. */
import { KINDS, type Kind } from "./deck.ts";

export interface ReviewSearch {
  /** Only cards of this kind. */
  kind?: Kind;
}

export function reviewSearch(params: Record<string, unknown>): ReviewSearch {
  return { kind: KINDS.find((kind) => kind === params.kind) };
}
