/** Answers to proposals. A confirmation carries the digest of the text that the user was shown. */

import { useQueryClient } from "@tanstack/react-query";
import type { EditMemory, MemoryView } from "lukasa-client";
import { useMemo } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { t } from "../i18n/index.ts";
import { textOf } from "./memory-writes.ts";
import { shownContent } from "./shown-content.ts";
import { patchMemories, putMemory } from "./store.ts";
import { useWrite } from "./writes.ts";

export function useProposalWrites() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useWrite();
  return useMemo(() => {
    const show = (memory: MemoryView, change: Partial<MemoryView> | null) => () =>
      patchMemories(queries, (byId) => {
        if (change) byId.set(memory.id, { ...memory, ...change });
        else byId.delete(memory.id);
      });
    return {
      accept: (memory: MemoryView, edits?: EditMemory) =>
        write({
          say: t("memory.did.accept"),
          failed: t("memory.failed.accept"),
          about: textOf(edits?.content) ?? shownContent(memory),
          show: show(memory, {
            status: "active",
            content: textOf(edits?.content) ?? memory.content,
            updated_at: new Date().toISOString(),
          }),
          run: () => lukasa.memories.confirm(memory.id, { sha256: memory.sha256, edits }),
          after: (written) => written.memory && putMemory(queries, written.memory),
        }),
      /** The proposed change is true now, in place of the memory that it is about. */
      replace: (memory: MemoryView) =>
        write({
          say: t("memory.did.accept"),
          failed: t("memory.failed.accept"),
          about: shownContent(memory),
          show: show(memory, { status: "active", updated_at: new Date().toISOString() }),
          run: () =>
            lukasa.memories.resolve(memory.id, { true: "against", sha256: memory.sha256 ?? "" }),
          after: (written) => written.memory && putMemory(queries, written.memory),
        }),
      reject: (memory: MemoryView) =>
        write({
          say: t("memory.did.reject"),
          failed: t("memory.failed.reject"),
          about: shownContent(memory),
          show: show(memory, null),
          run: () => lukasa.memories.confirm(memory.id, { confirm: false }),
          after: (written) => written.memory && putMemory(queries, written.memory),
        }),
    };
  }, [lukasa, queries, write]);
}
