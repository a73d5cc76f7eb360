/**
 * The actions on a memory, defined once: shortcuts, row buttons and panel buttons are built from this list.
 * During time travel only read-only actions are available.
 */
import type { MemoryView } from "lukasa-client";
import { createContext, useContext, useMemo } from "react";
import { useMemoryActs } from "../../data/acts.ts";
import { t } from "../../i18n/index.ts";

export type Open = (memory: MemoryView, tab?: string) => void;

export interface Doable {
  name: string;
  key: string;
  label: string;
  run: (memory: MemoryView, open: Open) => void;
}

export interface Doing {
  actsOn: (memory: MemoryView) => readonly Doable[];
}

/** Actions by status. Proposals are answered in their own list, with their evidence. */
const FITTING: Record<string, readonly string[]> = {
  active: ["edit", "confirm", "forget", "delete"],
  upcoming: ["edit", "confirm", "forget", "delete"],
  expired: ["edit", "forget", "delete"],
  candidate: ["forget", "delete"],
  forgotten: ["restore", "delete"],
  trashed: ["restore"],
};
const LOOKING = ["history", "sources"];
const CHANGING = ["select"];

/** The actions, for the Memory page or for the page of one memory. */
export function useDoables(
  edit: (id: string) => void,
  sources: (id: string) => void,
  select?: (id: string) => void,
): Doable[] {
  const acts = useMemoryActs();
  return useMemo<Doable[]>(
    () => [
      { name: "edit", key: "e", label: t("memory.act.edit"), run: ({ id }) => edit(id) },
      {
        name: "confirm",
        key: "c",
        label: t("memory.act.confirm"),
        run: (m) => void acts.confirm(m),
      },
      {
        name: "restore",
        key: "r",
        label: t("memory.act.restore"),
        run: (m) => void acts.restore(m),
      },
      { name: "forget", key: "f", label: t("memory.act.forget"), run: (m) => void acts.forget(m) },
      { name: "delete", key: "d", label: t("memory.act.delete"), run: (m) => void acts.delete(m) },
      {
        name: "history",
        key: "h",
        label: t("memory.act.history"),
        run: (memory, open) => open(memory, "history"),
      },
      { name: "sources", key: "s", label: t("memory.act.sources"), run: ({ id }) => sources(id) },
      ...(select
        ? [
            {
              name: "select",
              key: "x",
              label: t("memory.key.select"),
              run: ({ id }: MemoryView) => select(id),
            },
          ]
        : []),
    ],
    [acts, edit, sources, select],
  );
}

/** The actions that apply to a status. */
export function fitting(doables: readonly Doable[], status: string, readOnly: boolean): Doable[] {
  const names = [...(readOnly ? [] : [...(FITTING[status] ?? []), ...CHANGING]), ...LOOKING];
  return doables.filter((one) => names.includes(one.name));
}

export function useDoingOf(doables: Doable[], readOnly: boolean): Doing {
  return useMemo(
    () => ({ actsOn: (memory) => fitting(doables, memory.status, readOnly) }),
    [doables, readOnly],
  );
}

export const DoingContext = createContext<Doing>({ actsOn: () => [] });

export function useDoing(): Doing {
  return useContext(DoingContext);
}
