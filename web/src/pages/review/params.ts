/** Search parameters of the Review page. */
import { KINDS, type Kind } from "./deck.ts";

export interface ReviewParams {
  /** Only cards of this kind. */
  kind?: Kind;
  /** A list instead of one card at a time. */
  view?: "list";
}

export function parseReviewParams(params: Record<string, unknown>): ReviewParams {
  return {
    kind: KINDS.find((kind) => kind === params.kind),
    view: params.view === "list" ? "list" : undefined,
  };
}
