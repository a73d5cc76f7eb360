/** The history of one memory, and its links. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useMemo } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { t } from "../i18n/index.ts";
import { shownContent } from "./shown-content.ts";
import { stepsOf } from "./steps.ts";
import { useWrite } from "./writes.ts";

/** All operations on a memory with the text before and after, the latest first. */
export function useSteps(id: string) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memory", id, "steps"],
    queryFn: async ({ signal }) => {
      const [versions, operations] = await Promise.all([
        lukasa.memories.history(id, { limit: 200 }, { signal }).all(),
        lukasa.operations.list({ memory_id: id, limit: 200 }, { signal }).all(),
      ]);
      return stepsOf(operations, versions);
    },
  });
}

/** Creating and ending links between memories, with undo. */
export function useLinkWrites(id: string) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useWrite();
  return useMemo(() => {
    const again = () => void queries.invalidateQueries({ queryKey: ["memory", id] });
    return {
      link: (to: MemoryView, relation: string) =>
        write({
          say: t("memory.did.link"),
          about: shownContent(to),
          run: () => lukasa.memories.link(id, { to: to.id, relation }),
          after: again,
        }),
      unlink: (link: string, about: string | undefined) =>
        write({
          say: t("memory.did.unlink"),
          about,
          run: () => lukasa.memories.unlink(id, link),
          after: again,
        }),
    };
  }, [lukasa, queries, write, id]);
}
