/** Writes on several memories: shown optimistically, sent one by one, and undone together. */

import { useQueryClient } from "@tanstack/react-query";
import type { MemoryView, WriteResult } from "lukasa-client";
import { useCallback, useMemo } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { t } from "../i18n/index.ts";
import { patchMemories, putMemory } from "./store.ts";
import { useBatchWrite } from "./writes.ts";

/** A new memory of a batch, and the request that saves it. */
export interface NewMemory {
  content: string;
  save: () => Promise<WriteResult>;
}

/** A memory, and the area that it is filed in; null for none. */
export interface AreaMove {
  memory: MemoryView;
  domain: string | null;
}

/** The server files at most this many memories at once. */
const MAX_FILED = 1_000;

function chunksOf<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size));
}

/** Saves several new memories, with one toast and one undo. */
export function useBatchSave(): (memories: readonly NewMemory[]) => Promise<void> {
  const queries = useQueryClient();
  const writeAll = useBatchWrite();
  return useCallback(
    (memories) =>
      writeAll({
        say: t("memory.did.save"),
        failed: t("memory.failed.save"),
        about: t("memory.count", { count: memories.length }),
        runs: memories.map(({ save }) => save),
        after: ({ memory }) => memory && putMemory(queries, memory),
      }),
    [queries, writeAll],
  );
}

export function useBatchMemoryWrites() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const writeAll = useBatchWrite();
  return useMemo(() => {
    const run = (
      memories: readonly MemoryView[],
      verb: "confirm" | "forget" | "delete" | "restore",
      change: Partial<MemoryView>,
      each: (memory: MemoryView) => Promise<WriteResult>,
    ) =>
      writeAll({
        say: t(`memory.did.${verb}`),
        failed: t(`memory.failed.${verb}`),
        about: t("memory.count", { count: memories.length }),
        show: () =>
          patchMemories(queries, (byId) => {
            for (const memory of memories) byId.set(memory.id, { ...memory, ...change });
          }),
        runs: memories.map((memory) => () => each(memory)),
        after: ({ memory }) => memory && putMemory(queries, memory),
      });
    return {
      confirm: (memories: readonly MemoryView[]) =>
        run(memories, "confirm", { last_confirmed_at: new Date().toISOString() }, ({ id }) =>
          lukasa.memories.confirm(id),
        ),
      forget: (memories: readonly MemoryView[]) =>
        run(memories, "forget", { status: "forgotten" }, ({ id }) => lukasa.memories.forget(id)),
      delete: (memories: readonly MemoryView[]) =>
        run(memories, "delete", { status: "trashed" }, ({ id }) => lukasa.memories.delete(id)),
      restore: (memories: readonly MemoryView[]) =>
        run(memories, "restore", { status: "active" }, ({ id }) => lukasa.memories.restore(id)),
      /** Files the memories in their areas, as one operation for each thousand. */
      file: (moves: readonly AreaMove[]) =>
        writeAll({
          say: t("memory.did.move"),
          failed: t("memory.failed.move"),
          about: t("memory.count", { count: moves.length }),
          show: () =>
            patchMemories(queries, (byId) => {
              for (const { memory, domain } of moves) byId.set(memory.id, { ...memory, domain });
            }),
          runs: chunksOf(moves, MAX_FILED).map((some) => async () => {
            const filing = some.map(({ memory, domain }) => ({ memory_id: memory.id, domain }));
            const { memories, ...filed } = await lukasa.memories.file(filing);
            for (const memory of memories) putMemory(queries, memory);
            return { ...filed, memory: null };
          }),
        }),
    };
  }, [lukasa, queries, writeAll]);
}
