/**
 * All memories of a person, in one place: ten thousand are a few megabytes, so views filter and group
 * them without asking the server again. `data/memories.ts` fills it and pages read it; here is how it
 * changes, by the person's own hand or because an event told of it.
 */

import type { QueryClient } from "@tanstack/react-query";
import { type Lukasa, LukasaError, type MemoryView } from "lukasa-client";

export const MEMORIES = ["memories"] as const;
const PAGE = 200;
/** More than this at once, such as an import, is cheaper to read anew. */
const FEW = 40;

export interface Memories {
  byId: ReadonlyMap<string, MemoryView>;
  /** Whether everything is here, or pages are still coming. */
  complete: boolean;
}

/**
 * A list with every status has a row for each stretch of time in which a memory said something else. The
 * one that stands speaks for the memory, wherever in the list it comes.
 */
export function putRow(byId: Map<string, MemoryView>, row: MemoryView): void {
  const there = byId.get(row.id);
  if (!there || rank(row) > rank(there)) byId.set(row.id, row);
}

function rank({ status }: MemoryView): number {
  return status === "active" ? 2 : status === "superseded" ? 0 : 1;
}

/** What changed while pages were being read; they are of the list as it was at first. */
const changing = new Set<Set<string>>();

/**
 * Reads everything, page by page, and shows it as it comes: the first page at once, then whenever there is
 * twice as much, because to sort and group it anew for each of fifty pages would take longer than reading.
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
    const list = lukasa.memories.list({ status: "all", limit: PAGE }, { signal });
    let shown = 0;
    for await (const page of list.pages()) {
      for (const memory of page.data) putRow(byId, memory);
      // A second reading replaces the first when it is whole, so that nothing flickers.
      if (!queries.getQueryData<Memories>(MEMORIES)?.complete && byId.size >= 2 * shown) {
        shown = byId.size;
        queries.setQueryData<Memories>(MEMORIES, { byId: new Map(byId), complete: false });
      }
    }
    await readInto(byId, lukasa, [...changed]);
    return { byId, complete: true };
  } finally {
    changing.delete(changed);
  }
}

/** Changes the store in place; gives back what puts the memories it touched back as they were. */
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
    // Others may have changed since, and stay as they are.
    patchMemories(queries, (now) => {
      for (const [id, memory] of before.byId) if (byId.get(id) !== memory) now.set(id, memory);
      for (const id of byId.keys()) if (!before.byId.has(id)) now.delete(id);
    });
  };
}

/** Puts a memory into the store as the server has just given it. */
export function putMemory(queries: QueryClient, memory: MemoryView): void {
  for (const changed of changing) changed.add(memory.id);
  patchMemories(queries, (byId) => byId.set(memory.id, memory));
}

/** Reads these memories again. */
export async function refreshMemories(
  queries: QueryClient,
  lukasa: Lukasa,
  ids: string[],
): Promise<void> {
  for (const changed of changing) for (const id of ids) changed.add(id);
  for (const id of ids) void queries.invalidateQueries({ queryKey: ["memory", id] });
  if (ids.length > FEW) {
    await queries.invalidateQueries({ queryKey: MEMORIES });
    return;
  }
  const fresh = new Map<string, MemoryView>();
  await readInto(fresh, lukasa, ids, (id) => patchMemories(queries, (byId) => byId.delete(id)));
  patchMemories(queries, (byId) => {
    for (const [id, memory] of fresh) byId.set(id, memory);
  });
}

/** Reads memories one by one. One that is gone is taken out; one that cannot be read now stays. */
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
