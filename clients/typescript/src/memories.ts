import type {
  ConfirmMemory,
  ContextView,
  ContradictionView,
  CreateLink,
  CreateMemory,
  ErasurePreview,
  LinkView,
  MemoryView,
  ReportUsage,
  ResolveContradiction,
  RetrieveRequest,
  SearchAnswer,
  SearchRequest,
  StatsView,
  UpdateMemory,
  UsageView,
  Written,
} from "./openapi.ts";
import { Pages } from "./pages.ts";
import type { Transport } from "./transport.ts";
import type { Options, Query } from "./types.ts";

/** What a context is asked for; a number of tokens is understood as well as a budget's name. */
export type Retrieve = Omit<RetrieveRequest, "budget"> & {
  budget?: "compact" | "standard" | "deep" | number | null;
};

/**
 * The memories of one person. Where an `id` is asked for, text that occurs in exactly one active
 * memory does as well.
 */
export const memories = (lukasa: Transport) => ({
  /**
   * Remembers this. Saying the same again gives the memory that is there; with `similar` the answer
   * also names what it may be repeating.
   */
  save(
    memory: CreateMemory | string,
    { similar, ...options }: Options & { similar?: boolean } = {},
  ): Promise<Written> {
    const body = typeof memory === "string" ? { content: memory } : memory;
    return lukasa.request("POST", "/api/memory", { ...options, query: { similar }, body });
  },

  /** Changes a memory (the world moved on), or corrects it (it was never so; `mode: "correction"`). */
  update(id: string, changes: UpdateMemory | string, options?: Options): Promise<Written> {
    const body = typeof changes === "string" ? { content: changes } : changes;
    return lukasa.request("PATCH", "/api/memory/{id}", { ...options, path: { id }, body });
  },

  /** Ends it: never in a prompt again, and restorable. */
  forget(id: string, options?: Options): Promise<Written> {
    return lukasa.request("POST", "/api/memory/{id}/forget", { ...options, path: { id } });
  },

  /** Says that a memory still holds, or answers a proposal, which takes a person's token. */
  confirm(id: string, answer: ConfirmMemory = {}, options?: Options): Promise<Written> {
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

  /** What is known, newest first. `status: "all"` hides nothing. */
  list(filter: Query<"GET", "/api/memory"> = {}, options?: Options): Pages<MemoryView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/memory", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** Every version a memory ever had. */
  async history(id: string, options?: Options): Promise<MemoryView[]> {
    const input = { ...options, path: { id } };
    return (await lukasa.request("GET", "/api/memory/{id}/history", input)).data;
  },

  /** Finds what bears on a message. */
  search(query: SearchRequest | string, options?: Options): Promise<SearchAnswer> {
    const body = typeof query === "string" ? { query } : query;
    return lukasa.request("POST", "/api/memory/search", { ...options, body });
  },

  /** The context for a message: what to put into the prompt, and why. */
  retrieve(ask: Retrieve | string, options?: Options): Promise<ContextView> {
    const body = (typeof ask === "string" ? { query: ask } : ask) as RetrieveRequest;
    return lukasa.request("POST", "/api/memory/retrieve", { ...options, body });
  },

  /** Proposes a memory, for its person to answer. */
  propose(memory: CreateMemory | string, options?: Options): Promise<Written> {
    const body = typeof memory === "string" ? { content: memory } : memory;
    return lukasa.request("POST", "/api/memory/propose", { ...options, body });
  },

  /** What waits for an answer. */
  proposals(
    filter: Query<"GET", "/api/memory/proposals"> = {},
    options?: Options,
  ): Pages<MemoryView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/memory/proposals", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** What contradicts what. */
  async contradictions(options?: Options): Promise<ContradictionView[]> {
    return (await lukasa.request("GET", "/api/memory/contradictions", { ...options })).data;
  },

  /** Says which of two contradicting memories is true; takes a person's token. */
  resolve(id: string, answer: ResolveContradiction, options?: Options): Promise<Written> {
    const input = { ...options, path: { id }, body: answer };
    return lukasa.request("POST", "/api/memory/{id}/resolve", input);
  },

  /** Into the trash, for thirty days. */
  delete(id: string, options?: Options): Promise<Written> {
    return lukasa.request("DELETE", "/api/memory/{id}", { ...options, path: { id } });
  },

  /** Brings back what was forgotten or deleted, exactly as it was. */
  restore(id: string, options?: Options): Promise<Written> {
    return lukasa.request("POST", "/api/memory/{id}/restore", { ...options, path: { id } });
  },

  /** Removes it now and everywhere, with a receipt. It cannot be undone. */
  erase(id: string, options?: Options): Promise<Written> {
    return lukasa.request("POST", "/api/memory/{id}/erase", { ...options, path: { id } });
  },

  /** What erasing would remove, without removing anything. */
  previewErasure(id: string, options?: Options): Promise<ErasurePreview> {
    return lukasa.request("GET", "/api/memory/{id}/erasure", { ...options, path: { id } });
  },

  /** Removes for good what has lain in the trash for thirty days. */
  purge(options?: Options): Promise<Written> {
    return lukasa.request("POST", "/api/memory/purge", { ...options });
  },

  /** Links two memories. */
  link(id: string, to: CreateLink | string, options?: Options): Promise<Written> {
    const body = typeof to === "string" ? { to } : to;
    return lukasa.request("POST", "/api/memory/{id}/links", { ...options, path: { id }, body });
  },

  /** The links of a memory. */
  async links(id: string, options?: Options): Promise<LinkView[]> {
    const input = { ...options, path: { id } };
    return (await lukasa.request("GET", "/api/memory/{id}/links", input)).data;
  },

  /** Ends a link. */
  unlink(id: string, link_id: string, options?: Options): Promise<Written> {
    const input = { ...options, path: { id, link_id } };
    return lukasa.request("DELETE", "/api/memory/{id}/links/{link_id}", input);
  },

  /** What was used, and when. */
  usage(filter: Query<"GET", "/api/memory/usage"> = {}, options?: Options): Pages<UsageView> {
    return new Pages((cursor = filter.cursor) =>
      lukasa.request("GET", "/api/memory/usage", { ...options, query: { ...filter, cursor } }),
    );
  },

  /** Says what came of a memory after it was in a prompt. */
  reportUsage(usage: ReportUsage, options?: Options): Promise<UsageView> {
    return lukasa.request("POST", "/api/memory/usage", { ...options, body: usage });
  },

  /** Counts over a memory and its use. */
  stats(options?: Options): Promise<StatsView> {
    return lukasa.request("GET", "/api/memory/stats", { ...options });
  },
});
