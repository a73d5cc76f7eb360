/** Answers to many suggestions and guesses at once, with one toast and one undo. */
import { useQueryClient } from "@tanstack/react-query";
import type { MemoryView, Written } from "lukasa-client";
import { useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { REVIEW } from "../../data/review.ts";
import { patchMemories, putMemory } from "../../data/store.ts";
import { useBatchWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { kindOf } from "./choice.ts";

/** Fewer are answered before a progress could be read. */
const MIN_SHOWN = 20;

export function useBatchAnswers() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useBatchWrite();
  const [progress, setProgress] = useState<{ done: number; of: number }>();
  const send = (memory: MemoryView, verdict: "keep" | "decline"): Promise<Written> => {
    const { id, sha256 } = memory;
    if (kindOf(memory) === "proposal") {
      const answer = verdict === "keep" ? { sha256 } : { confirm: false };
      return lukasa.memories.confirm(id, answer);
    }
    return verdict === "keep" ? lukasa.memories.confirm(id) : lukasa.memories.forget(id);
  };
  const answer = async (memories: readonly MemoryView[], verdict: "keep" | "decline") => {
    const of = memories.length;
    const changed: MemoryView[] = [];
    await write({
      say: t(verdict === "keep" ? "review.did.kept" : "review.did.forgotten"),
      about: t("memory.count", { count: of }),
      show: () =>
        patchMemories(queries, (byId) => {
          const status = verdict === "keep" ? "active" : "forgotten";
          for (const memory of memories) byId.set(memory.id, { ...memory, status });
        }),
      runs: memories.map((memory) => () => send(memory, verdict)),
      onProgress: (done) => of >= MIN_SHOWN && setProgress({ done, of }),
      after: ({ memory }) => memory && changed.push(memory),
    });
    setProgress(undefined);
    // One change of the store for all of them: each one copies it.
    if (changed.length === 1 && changed[0]) putMemory(queries, changed[0]);
    else {
      patchMemories(queries, (byId) => {
        for (const memory of changed) byId.set(memory.id, memory);
      });
    }
    await queries.invalidateQueries({ queryKey: REVIEW });
  };
  return { progress, answer };
}
