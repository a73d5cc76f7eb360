/** Search parameters of the Review page. */
import { KINDS, type Kind } from "./deck.ts";

export interface ReviewParams {
  /** Only cards of this kind. */
  kind?: Kind;
}

export function parseReviewParams(params: Record<string, unknown>): ReviewParams {
  return { kind: KINDS.find((kind) => kind === params.kind) };
}
