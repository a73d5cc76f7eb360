/**
 * All memories of a person, in one store: ten thousand are a few megabytes, so views filter and group
 * them without asking the server again. They come in pages of 200 and are shown as they come; after that
 * events keep them fresh, one by one.
 */
import { type MemoryView, type Quipu, QuipuError } from "@quipu/client";
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useQuipu } from "../app/session.tsx";

export const MEMORIES = ["memories"] as const;
const PAGE = 200;
/** More than this at once, such as an import, is cheaper to read anew. */
const FEW = 40;

export interface Memories {
  byId: ReadonlyMap<string, MemoryView>;
  /** Whether everything is here, or pages are still coming. */
  complete: boolean;
}

const NONE: Memories = { byId: new Map(), complete: false };

/** Everything there is, whatever its status: choose with `select` of `data/select.ts`. */
export function useMemories() {
  const quipu = useQuipu();
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: MEMORIES,
    queryFn: async ({ signal }): Promise<Memories> => {
      const byId = new Map<string, MemoryView>();
      for await (const page of quipu.memories
        .list({ status: "all", limit: PAGE }, { signal })
        .pages()) {
        for (const memory of page.data) byId.set(memory.id, memory);
        const before = queries.getQueryData<Memories>(MEMORIES);
        // A second reading replaces the first when it is whole, so that nothing flickers.
        if (!before?.complete) {
          queries.setQueryData<Memories>(MEMORIES, { byId: new Map(byId), complete: false });
        }
      }
      return { byId, complete: true };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const memories = query.data ?? NONE;
  const all = useMemo(() => [...memories.byId.values()], [memories]);
  return {
    all,
    byId: memories.byId,
    complete: memories.complete,
    error: query.error,
    refetch: query.refetch,
  };
}

/** One memory as it stands, with all that a list leaves out; at another time if asked. */
export function useMemory(id: string, at: { as_of?: string; known_at?: string } = {}) {
  const quipu = useQuipu();
  const queries = useQueryClient();
  return useQuery({
    queryKey: ["memory", id, at],
    queryFn: ({ signal }) => quipu.memories.get(id, { ...at, signal }),
    placeholderData: () =>
      at.as_of || at.known_at ? undefined : queries.getQueryData<Memories>(MEMORIES)?.byId.get(id),
  });
}

/** Every version a memory ever had, newest first as the server gives them. */
export function useHistory(id: string) {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["memory", id, "history"],
    queryFn: ({ signal }) => quipu.memories.history(id, { signal }),
  });
}

export function useLinks(id: string) {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["memory", id, "links"],
    queryFn: ({ signal }) => quipu.memories.links(id, { signal }),
  });
}

/** Changes the store in place; gives back what takes the change away again. */
export function patchMemories(
  queries: QueryClient,
  change: (byId: Map<string, MemoryView>) => void,
): () => void {
  const before = queries.getQueryData<Memories>(MEMORIES);
  if (!before) return () => {};
  const byId = new Map(before.byId);
  change(byId);
  queries.setQueryData<Memories>(MEMORIES, { ...before, byId });
  return () => queries.setQueryData<Memories>(MEMORIES, before);
}

/** Puts a memory into the store as the server has just given it. */
export function putMemory(queries: QueryClient, memory: MemoryView): void {
  patchMemories(queries, (byId) => byId.set(memory.id, memory));
}

/** Reads these memories again. */
export async function refreshMemories(
  queries: QueryClient,
  quipu: Quipu,
  ids: string[],
): Promise<void> {
  for (const id of ids) void queries.invalidateQueries({ queryKey: ["memory", id] });
  if (ids.length > FEW) {
    await queries.invalidateQueries({ queryKey: MEMORIES });
    return;
  }
  const fresh = await Promise.all(ids.map((id) => readOrGone(quipu, id)));
  patchMemories(queries, (byId) => {
    fresh.forEach((memory, at) => {
      const id = ids[at];
      if (memory) byId.set(memory.id, memory);
      else if (memory === null && id !== undefined) byId.delete(id);
    });
  });
}

/** The memory, null if it is gone, and nothing if that cannot be told just now. */
async function readOrGone(quipu: Quipu, id: string): Promise<MemoryView | null | undefined> {
  try {
    return await quipu.memories.get(id);
  } catch (error) {
    return error instanceof QuipuError && error.status === 404 ? null : undefined;
  }
}
