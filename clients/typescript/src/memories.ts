import type {
  ConfirmMemory,
  ContextView,
  ContradictionView,
  CreateLink,
  CreateMemory,
  ErasurePreview,
  FiledMemory,
  FiledView,
  FilingSuggestionsView,
  LinkView,
  MemoryView,
  PredictionView,
  RatingView,
  ReportOutcome,
  ReportUsage,
  ResolveContradiction,
  RetrieveRequest,
  SearchAnswer,
  SearchRequest,
  StatePrediction,
  StatsView,
  UpdateMemory,
  UsageView,
  WriteResult,
} from "./openapi.ts";
import { Pages } from "./pages.ts";
import type { Transport } from "./transport.ts";
import type { Options, Query } from "./types.ts";

/** A retrieve request; the budget is a name or a number of tokens. */
export type Retrieve = Omit<RetrieveRequest, "budget"> & {
  budget?: "compact" | "standard" | "deep" | number | null;
};

/**
 * The memories of one user. Instead of an `id`, text that occurs in exactly one active memory can be given.
 */
export const memories = (lukasa: Transport) => ({
  /**
   * Saves a memory. Saving the same text again returns the existing memory; with `similar` the response
   * also lists similar memories.
   */
  save(
    memory: CreateMemory | string,
    { similar, ...options }: Options & { similar?: boolean } = {},
  ): Promise<WriteResult> {
    const body = typeof memory === "string" ? { content: memory } : memory;
    return lukasa.request("POST", "/api/memory", { ...options, query: { similar }, body });
  },

  /** Changes a memory (it is different now), or corrects it (it was never true; `mode: "correction"`). */
  update(id: string, changes: UpdateMemory | string, options?: Options): Promise<WriteResult> {
    const body = typeof changes === "string" ? { content: changes } : changes;
    return lukasa.request("PATCH", "/api/memory/{id}", { ...options, path: { id }, body });
  },

  /** Forgets a memory: it is never in a prompt again, and can be restored. */
  forget(id: string, options?: Options): Promise<WriteResult> {
    return lukasa.request("POST", "/api/memory/{id}/forget", { ...options, path: { id } });
  },

  /** Confirms that a memory is still true, or answers a proposal, which needs a token of the user. */
  confirm(id: string, answer: ConfirmMemory = {}, options?: Options): Promise<WriteResult> {
    const body = answer;
    return lukasa.request("POST", "/api/memory/{id}/confirm", { ...options, path: { id }, body });
  },

  /** One memory, now or at a point on both time axes. */
  get(
    id: string,
    { as_of, known_at, ...options }: Options & Query<"GET", "/api/memory/{id}"> = {},
  ): Promise<MemoryView> {
    const query = { as_of, known_at };
    return lukasa.request("GET", "/api/memory/{id}", { ...options, path: { id }, query });
  },

  /** Lists memories, newest first; with `status: "all"` of every status. */
  list(filter: Query<"GET", "/api/memory"> = {}, options?: Options): Pages<MemoryView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/memory", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** Lists every version a memory ever had, in the order they became known. */
  history(
    id: string,
    filter: Query<"GET", "/api/memory/{id}/history"> = {},
    options?: Options,
  ): Pages<MemoryView> {
    return new Pages((cursor = filter.cursor) => {
      const input = { ...options, path: { id }, query: { ...filter, cursor } };
      return lukasa.request("GET", "/api/memory/{id}/history", input);
    });
  },

  /** Finds memories that are relevant to a message. */
  recall(query: SearchRequest | string, options?: Options): Promise<SearchAnswer> {
    const body = typeof query === "string" ? { query } : query;
    return lukasa.request("POST", "/api/memory/search", { ...options, body });
  },

  /** Retrieves the context for a message: what to put into the prompt, and why. */
  retrieve(ask: Retrieve | string, options?: Options): Promise<ContextView> {
    const body = (typeof ask === "string" ? { query: ask } : ask) as RetrieveRequest;
    return lukasa.request("POST", "/api/memory/retrieve", { ...options, body });
  },

  /** Proposes a memory, which the user confirms or rejects. */
  propose(memory: CreateMemory | string, options?: Options): Promise<WriteResult> {
    const body = typeof memory === "string" ? { content: memory } : memory;
    return lukasa.request("POST", "/api/memory/propose", { ...options, body });
  },

  /** Lists open proposals. */
  proposals(
    filter: Query<"GET", "/api/memory/proposals"> = {},
    options?: Options,
  ): Pages<MemoryView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/memory/proposals", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** Lists pairs of contradicting memories. */
  async contradictions(options?: Options): Promise<ContradictionView[]> {
    return (await lukasa.request("GET", "/api/memory/contradictions", { ...options })).data;
  },

  /** Suggests domains for the memories that have none. */
  suggestFiling(options?: Options): Promise<FilingSuggestionsView> {
    return lukasa.request("GET", "/api/memory/filing", { ...options });
  },

  /** Files memories under domains, as one operation; needs a token of the user. */
  file(memories: FiledMemory[], options?: Options): Promise<FiledView> {
    return lukasa.request("POST", "/api/memory/filing", { ...options, body: { memories } });
  },

  /** Resolves a contradiction by choosing the true memory; needs a token of the user. */
  resolve(id: string, answer: ResolveContradiction, options?: Options): Promise<WriteResult> {
    const input = { ...options, path: { id }, body: answer };
    return lukasa.request("POST", "/api/memory/{id}/resolve", input);
  },

  /** Moves a memory to the trash, for thirty days. */
  delete(id: string, options?: Options): Promise<WriteResult> {
    return lukasa.request("DELETE", "/api/memory/{id}", { ...options, path: { id } });
  },

  /** Restores a forgotten or deleted memory exactly as it was. */
  restore(id: string, options?: Options): Promise<WriteResult> {
    return lukasa.request("POST", "/api/memory/{id}/restore", { ...options, path: { id } });
  },

  /** Erases a memory now and everywhere, with a receipt. It cannot be undone. */
  erase(id: string, options?: Options): Promise<WriteResult> {
    return lukasa.request("POST", "/api/memory/{id}/erase", { ...options, path: { id } });
  },

  /** What erasing would remove, without removing anything. */
  previewErasure(id: string, options?: Options): Promise<ErasurePreview> {
    return lukasa.request("GET", "/api/memory/{id}/erasure", { ...options, path: { id } });
  },

  /** Permanently removes memories that have been in the trash for thirty days. */
  purge(options?: Options): Promise<WriteResult> {
    return lukasa.request("POST", "/api/memory/purge", { ...options });
  },

  /** Links two memories. */
  link(id: string, to: CreateLink | string, options?: Options): Promise<WriteResult> {
    const body = typeof to === "string" ? { to } : to;
    return lukasa.request("POST", "/api/memory/{id}/links", { ...options, path: { id }, body });
  },

  /** Lists the links of a memory, in the order they were made. */
  links(
    id: string,
    filter: Query<"GET", "/api/memory/{id}/links"> = {},
    options?: Options,
  ): Pages<LinkView> {
    return new Pages((cursor = filter.cursor) => {
      const input = { ...options, path: { id }, query: { ...filter, cursor } };
      return lukasa.request("GET", "/api/memory/{id}/links", input);
    });
  },

  /** Ends a link. */
  unlink(id: string, link_id: string, options?: Options): Promise<WriteResult> {
    const input = { ...options, path: { id, link_id } };
    return lukasa.request("DELETE", "/api/memory/{id}/links/{link_id}", input);
  },

  /** Lists when memories were used. */
  usage(filter: Query<"GET", "/api/memory/usage"> = {}, options?: Options): Pages<UsageView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/memory/usage", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** Reports the result of using a memory in a prompt. */
  reportUsage(usage: ReportUsage, options?: Options): Promise<UsageView> {
    return lukasa.request("POST", "/api/memory/usage", { ...options, body: usage });
  },

  /** Rates a memory up or down; `null` removes the rating. Needs a token of the user. */
  rate(id: string, rating: "up" | "down" | null, options?: Options): Promise<RatingView> {
    const input = { ...options, path: { id } };
    return rating === null
      ? lukasa.request("DELETE", "/api/memory/{id}/rating", input)
      : lukasa.request("POST", "/api/memory/{id}/rating", { ...input, body: { rating } });
  },

  /** States what an assistant expects of a memory, before it acts on it. */
  predict(prediction: StatePrediction, options?: Options): Promise<PredictionView> {
    return lukasa.request("POST", "/api/predictions", { ...options, body: prediction });
  },

  /** Reports how a prediction turned out. */
  reportOutcome(id: string, outcome: ReportOutcome, options?: Options): Promise<PredictionView> {
    const input = { ...options, path: { id }, body: outcome };
    return lukasa.request("POST", "/api/predictions/{id}/outcome", input);
  },

  /** Counts over a memory and its use. */
  stats(options?: Options): Promise<StatsView> {
    return lukasa.request("GET", "/api/memory/stats", { ...options });
  },
});
