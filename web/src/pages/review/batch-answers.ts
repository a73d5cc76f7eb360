/** Answers to many suggestions and guesses at once, with one toast and one undo. */
import { useQueryClient } from "@tanstack/react-query";
import { LukasaError, type MemoryView } from "lukasa-client";
import { useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { REVIEW } from "../../data/review.ts";
import { patchMemories, putMemory } from "../../data/store.ts";
import { useBatchWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { answerOf, answerRuns } from "./answer-runs.ts";

/** Fewer are answered before a progress could be read. */
const MIN_SHOWN = 20;

export function useBatchAnswers() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useBatchWrite();
  const [progress, setProgress] = useState<{ done: number; of: number }>();
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
      runs: answerRuns(
        memories.map((memory) => answerOf(memory, verdict)),
        (answers) => lukasa.review.answerAll(answers),
      ).map((run) => async () => {
        const result = await run();
        if (result?.written) return result.written;
        throw new LukasaError(result?.problem ?? { code: "unreadable" });
      }),
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
