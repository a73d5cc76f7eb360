/** The answers of the reveal page. Each is one action with one undo, however many memories it is about. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ImportView, MemoryView, WriteResult } from "lukasa-client";
import { useCallback, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { IMPORTS, useImports } from "../../data/import-list.ts";
import { patchMemories, putMemory, refreshMemories } from "../../data/store.ts";
import { useBatchWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";

/** Memories per request; the server's limit. */
const MEMORIES_PER_REQUEST = 1_000;

/** The import, and the ids of its memories that wait. */
export function useImport(id: string | undefined) {
  const lukasa = useLukasa();
  const imports = useImports(id !== undefined);
  const waiting = useQuery({
    queryKey: [...IMPORTS, id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => lukasa.imports.undecided(id ?? "", { signal }),
  });
  return {
    one: imports.data?.find((one) => one.id === id),
    ids: waiting.data,
    error: imports.error ?? waiting.error,
    pending: imports.isPending || waiting.isPending,
  };
}

export interface Answer {
  keep: readonly MemoryView[];
  drop: readonly MemoryView[];
  /** Memories that are kept although they are not listed. */
  unlisted?: number;
}

/** Keeps and drops memories, all in one action. Without an import they are in use already, and are only dropped. */
export function useDecide(one: ImportView | undefined) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useBatchWrite();
  const [busy, setBusy] = useState(false);
  const decide = useCallback(
    async ({ keep, drop, unlisted = 0 }: Answer) => {
      setBusy(true);
      const kept = keep.length + unlisted;
      // First what is dropped: the rest can then be kept as a whole.
      const runs: (() => Promise<WriteResult>)[] = drop.map(
        ({ id }) =>
          () =>
            lukasa.memories.forget(id),
      );
      if (one && unlisted > 0) {
        const requests = Math.ceil(kept / MEMORIES_PER_REQUEST);
        for (let at = 0; at < requests; at++)
          runs.push(() => lukasa.imports.decide(one.id, { use: "all" }));
      } else if (one && keep.length > 0) {
        const memory_ids = keep.map(({ id }) => id);
        runs.push(() => lukasa.imports.decide(one.id, { use: "chosen", memory_ids }));
      }
      await write({
        say: one ? t("reveal.did", { kept, dropped: drop.length }) : t("memory.did.forget"),
        about: one ? one.name || one.format : t("memory.count", { count: drop.length }),
        show: () =>
          patchMemories(queries, (byId) => {
            for (const memory of drop) byId.set(memory.id, { ...memory, status: "forgotten" });
          }),
        runs,
        inOrder: true,
        after: ({ memory, event }) => {
          if (memory) putMemory(queries, memory);
          else void refreshMemories(queries, lukasa, event.memory_ids);
        },
      });
      setBusy(false);
      await queries.invalidateQueries({ queryKey: IMPORTS });
    },
    [lukasa, queries, write, one],
  );
  return { decide, busy };
}
