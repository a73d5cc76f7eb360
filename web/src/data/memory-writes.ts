/**
 * Writes on one memory, each as one call: shown optimistically, sent, and undone from the toast or with `Z`.
 * Erasing is the exception: it is shown only after the server has done it, cannot be undone, and the dialog
 * shows its result.
 */

import { useQueryClient } from "@tanstack/react-query";
import type { CreateMemory, MemoryView, UpdateMemory, WriteResult } from "lukasa-client";
import { useMemo } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { t } from "../i18n/index.ts";
import { shownContent } from "./shown-content.ts";
import { patchMemories, putMemory } from "./store.ts";
import { useWrite } from "./writes.ts";

/** The content of a write if it is a text. The console sends the value of a rule as its value. */
export function textOf(content: CreateMemory["content"] | null | undefined): string | undefined {
  return typeof content === "string" ? content : undefined;
}

/** The fields of a changed memory that a list shows. */
function shownAs(memory: MemoryView, changes: UpdateMemory): Partial<MemoryView> {
  return {
    content: textOf(changes.content) ?? memory.content,
    domain: changes.domain === undefined ? memory.domain : changes.domain,
    force: changes.force ?? memory.force,
    key: changes.key === undefined ? memory.key : changes.key,
    value: changes.value === undefined ? memory.value : changes.value,
    valid_from: changes.valid_from ?? memory.valid_from,
    valid_until: changes.valid_until === undefined ? memory.valid_until : changes.valid_until,
  };
}

export function useMemoryWrites() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useWrite();
  return useMemo(() => {
    // Update both the store and the query of a page that shows just this memory.
    const as = (memory: MemoryView, change: Partial<MemoryView>) => () => {
      const shown = { ...memory, ...change };
      const hide = patchMemories(queries, (byId) => byId.set(memory.id, shown));
      queries.setQueryData(["memory", memory.id, {}], shown);
      return () => {
        hide();
        queries.setQueryData(["memory", memory.id, {}], memory);
      };
    };
    const storeResult = ({ memory }: WriteResult) => {
      if (!memory) return;
      putMemory(queries, memory);
      queries.setQueryData(["memory", memory.id, {}], memory);
    };
    const now = () => new Date().toISOString();
    return {
      save: (memory: CreateMemory | string, say = t("memory.did.save")) =>
        write({
          say,
          failed: t("memory.failed.save"),
          about: textOf(typeof memory === "string" ? memory : memory.content),
          run: () => lukasa.memories.save(memory),
          runWithoutDomain: () =>
            lukasa.memories.save({
              ...(typeof memory === "string" ? { content: memory } : memory),
              keep_without_domain: true,
            }),
          after: storeResult,
        }),
      update: (memory: MemoryView, changes: UpdateMemory) =>
        write({
          say: t("memory.did.update"),
          failed: t("memory.failed.update"),
          about: textOf(changes.content) ?? shownContent(memory),
          show: as(memory, { ...shownAs(memory, changes), updated_at: now() }),
          run: () => lukasa.memories.update(memory.id, changes, { ifMatch: memory }),
          runWithoutDomain: () =>
            lukasa.memories.update(
              memory.id,
              { ...changes, keep_without_domain: true },
              { ifMatch: memory },
            ),
          after: storeResult,
        }),
      confirm: (memory: MemoryView) =>
        write({
          say: t("memory.did.confirm"),
          failed: t("memory.failed.confirm"),
          about: shownContent(memory),
          show: as(memory, { last_confirmed_at: now(), status: "active" }),
          run: () =>
            lukasa.memories.confirm(memory.id, memory.sha256 ? { sha256: memory.sha256 } : {}),
          after: storeResult,
        }),
      forget: (memory: MemoryView) =>
        write({
          say: t("memory.did.forget"),
          failed: t("memory.failed.forget"),
          about: shownContent(memory),
          show: as(memory, { status: "forgotten" }),
          run: () => lukasa.memories.forget(memory.id),
          after: storeResult,
        }),
      delete: (memory: MemoryView) =>
        write({
          say: t("memory.did.delete"),
          failed: t("memory.failed.delete"),
          about: shownContent(memory),
          show: as(memory, { status: "trashed" }),
          run: () => lukasa.memories.delete(memory.id),
          after: storeResult,
        }),
      restore: (memory: MemoryView) =>
        write({
          say: t("memory.did.restore"),
          failed: t("memory.failed.restore"),
          about: shownContent(memory),
          show: as(memory, { status: "active" }),
          run: () => lukasa.memories.restore(memory.id),
          after: storeResult,
        }),
      async erase(memory: MemoryView): Promise<WriteResult> {
        const written = await lukasa.memories.erase(memory.id);
        patchMemories(queries, (byId) => byId.delete(memory.id));
        queries.removeQueries({ queryKey: ["memory", memory.id] });
        return written;
      },
    };
  }, [lukasa, queries, write]);
}
