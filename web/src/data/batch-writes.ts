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
      verb: "confirm" | "forget" | "delete" | "restore" | "move",
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
      /** Changes the domain. This is a correction: the memory was always about that domain. */
      move: (memories: readonly MemoryView[], domain: string | null) =>
        run(memories, "move", { domain }, ({ id }) =>
          lukasa.memories.update(id, { domain, mode: "correction" }),
        ),
    };
  }, [lukasa, queries, writeAll]);
}
