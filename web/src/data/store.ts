/**
 * The store of all memories of the user: ten thousand are a few megabytes, so views filter and group them
 * without further requests. `data/memories.ts` fills it and pages read it; the functions here change it,
 * after writes of this page or after live events.
 */

import type { QueryClient } from "@tanstack/react-query";
import { type Lukasa, LukasaError, type MemoryView } from "lukasa-client";
import { readFirstPage } from "./home.ts";

export const MEMORIES = ["memories"] as const;
const PAGE_SIZE = 200;
/** Above this number of changes at once, such as after an import, reading all memories again is cheaper. */
const MAX_SINGLE_READS = 40;

export interface Memories {
  byId: ReadonlyMap<string, MemoryView>;
  /** Whether all pages have been read. */
  complete: boolean;
}

/**
 * Adds a row of a list with every status. Such a list has one row per version of a memory; the active one
 * takes precedence, wherever it is in the list.
 */
export function putRow(byId: Map<string, MemoryView>, row: MemoryView): void {
  const there = byId.get(row.id);
  if (!there || rank(row) > rank(there)) byId.set(row.id, row);
}

function rank({ status }: MemoryView): number {
  return status === "active" ? 2 : status === "superseded" ? 0 : 1;
}

/** Ids that changed while pages are being read: the pages show the list as it was at the start. */
const changing = new Set<Set<string>>();

/**
 * Reads all memories page by page and shows them progressively: the first page at once, then whenever the
 * number has doubled, because sorting and grouping for each of fifty pages would take longer than reading.
 */
export async function readMemories(
  queries: QueryClient,
  lukasa: Lukasa,
  signal: AbortSignal,
): Promise<Memories> {
  const byId = new Map<string, MemoryView>();
  const changed = new Set<string>();
  changing.add(changed);
  try {
    const list = lukasa.memories.list({ status: "all", limit: PAGE_SIZE }, { signal });
    let shown = 0;
    let page = await readFirstPage(lukasa, list);
    for (;;) {
      for (const memory of page.data) putRow(byId, memory);
      // A second read replaces the first only when it is complete, so that nothing flickers.
      if (!queries.getQueryData<Memories>(MEMORIES)?.complete && byId.size >= 2 * shown) {
        shown = byId.size;
        queries.setQueryData<Memories>(MEMORIES, { byId: new Map(byId), complete: false });
      }
      if (!page.next_cursor) break;
      page = await list.page(page.next_cursor);
    }
    await readInto(byId, lukasa, [...changed]);
    return { byId, complete: true };
  } finally {
    changing.delete(changed);
  }
}

/** Changes the store; returns a function that restores the memories it changed. */
export function patchMemories(
  queries: QueryClient,
  change: (byId: Map<string, MemoryView>) => void,
): () => void {
  const before = queries.getQueryData<Memories>(MEMORIES);
  if (!before) return () => {};
  const byId = new Map(before.byId);
  change(byId);
  queries.setQueryData<Memories>(MEMORIES, { ...before, byId });
  return () => {
    // Other memories may have changed since, and stay as they are.
    patchMemories(queries, (now) => {
      for (const [id, memory] of before.byId) if (byId.get(id) !== memory) now.set(id, memory);
      for (const id of byId.keys()) if (!before.byId.has(id)) now.delete(id);
    });
  };
}

let batches: Promise<unknown> = Promise.resolve();

/** Delays live refreshes until a batch of writes has ended: they would show again what is not sent yet. */
export function delayRefresh(batch: Promise<unknown>): void {
  batches = Promise.allSettled([batches, batch]);
}

/** Resolves when no batch of writes is running. */
export function refreshAllowed(): Promise<unknown> {
  return batches;
}

/** Puts a memory from a response into the store. */
export function putMemory(queries: QueryClient, memory: MemoryView): void {
  for (const changed of changing) changed.add(memory.id);
  patchMemories(queries, (byId) => byId.set(memory.id, memory));
}

/** Changes some fields of a memory, in the store and in the query of a page that shows just this memory. */
export function changeMemory(queries: QueryClient, id: string, change: Partial<MemoryView>): void {
  for (const changed of changing) changed.add(id);
  patchMemories(queries, (byId) => {
    const memory = byId.get(id);
    if (memory) byId.set(id, { ...memory, ...change });
  });
  queries.setQueryData<MemoryView>(
    ["memory", id, {}],
    (memory) => memory && { ...memory, ...change },
  );
}

/** Reads these memories again. */
export async function refreshMemories(
  queries: QueryClient,
  lukasa: Lukasa,
  ids: string[],
): Promise<void> {
  for (const changed of changing) for (const id of ids) changed.add(id);
  for (const id of ids) void queries.invalidateQueries({ queryKey: ["memory", id] });
  if (ids.length > MAX_SINGLE_READS) {
    await queries.invalidateQueries({ queryKey: MEMORIES });
    return;
  }
  const fresh = new Map<string, MemoryView>();
  await readInto(fresh, lukasa, ids, (id) => patchMemories(queries, (byId) => byId.delete(id)));
  patchMemories(queries, (byId) => {
    for (const [id, memory] of fresh) byId.set(id, memory);
  });
}

/** Reads memories one by one. Missing ones are removed; those that cannot be read now stay. */
async function readInto(
  byId: Map<string, MemoryView>,
  lukasa: Lukasa,
  ids: string[],
  gone: (id: string) => void = (id) => byId.delete(id),
): Promise<void> {
  await Promise.all(
    ids.map(async (id) => {
      try {
        byId.set(id, await lukasa.memories.get(id));
      } catch (error) {
        if (error instanceof LukasaError && error.status === 404) gone(id);
      }
    }),
  );
}
