/** The life of one memory: what was done to it, and what it said after each. */
import type { MemoryView } from "@quipu/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useQuipu } from "../app/sign-in.tsx";
import { useAct } from "../app/undo.tsx";
import { t } from "../i18n/index.ts";
import { stepsOf } from "./steps.ts";

/** Everything that was done to a memory, the latest first. */
export function useSteps(id: string) {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["memory", id, "steps"],
    queryFn: async ({ signal }) => {
      const [versions, operations] = await Promise.all([
        quipu.memories.history(id, { signal }),
        quipu.operations.list({ memory_id: id, limit: 200 }, { signal }).all(),
      ]);
      return stepsOf(operations, versions);
    },
  });
}

/** Links between memories: making one and ending it, each undone like everything else. */
export function useLinkActs(id: string) {
  const quipu = useQuipu();
  const queries = useQueryClient();
  const act = useAct();
  return useMemo(() => {
    const again = () => void queries.invalidateQueries({ queryKey: ["memory", id] });
    return {
      link: (to: MemoryView, relation: string) =>
        act({
          say: t("memory.did.link"),
          about: to.content,
          run: () => quipu.memories.link(id, { to: to.id, relation }),
          after: again,
        }),
      unlink: (link: string, about: string | undefined) =>
        act({
          say: t("memory.did.unlink"),
          about,
          run: () => quipu.memories.unlink(id, link),
          after: again,
        }),
    };
  }, [quipu, queries, act, id]);
}
