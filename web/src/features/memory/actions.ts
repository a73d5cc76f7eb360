/**
 * The actions on a memory, defined once: shortcuts, row buttons and panel buttons are built from this list.
 * During time travel only read-only actions are available.
 */
import type { MemoryView } from "lukasa-client";
import { createContext, useContext, useMemo } from "react";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { t } from "../../i18n/index.ts";

export type OpenMemory = (memory: MemoryView, tab?: string) => void;

/** An action on a memory, with its shortcut. */
export interface MemoryAction {
  name: string;
  key: string;
  label: string;
  run: (memory: MemoryView, open: OpenMemory) => void;
}

/** The actions that are available now. */
export interface MemoryActions {
  forMemory: (memory: MemoryView) => readonly MemoryAction[];
}

/** Actions by status. Proposals are answered in their own list, with their evidence. */
const ACTIONS_BY_STATUS: Record<string, readonly string[]> = {
  active: ["edit", "changed", "confirm", "forget", "delete"],
  upcoming: ["edit", "confirm", "forget", "delete"],
  expired: ["edit", "forget", "delete"],
  candidate: ["confirm", "forget", "delete"],
  forgotten: ["restore", "delete"],
  trashed: ["restore"],
};
/** What changes a memory or ends it: the verbs that are offered wherever a memory is shown in full. */
export const VERBS: readonly string[] = [
  "edit",
  "changed",
  "confirm",
  "restore",
  "forget",
  "delete",
];
/** For every status, also during time travel. */
const READ_ONLY_ACTIONS = ["history", "sources"];
/** For every status, but not during time travel. */
const ROW_ACTIONS = ["select"];

/** The actions, for the Memory page or for one memory. */
export function useActionList(
  edit: (id: string) => void,
  select?: (id: string) => void,
): MemoryAction[] {
  const writes = useMemoryWrites();
  return useMemo<MemoryAction[]>(
    () => [
      { name: "edit", key: "e", label: t("memory.act.correct"), run: ({ id }) => edit(id) },
      {
        name: "changed",
        key: "o",
        label: t("memory.act.changed"),
        run: (memory, open) => open(memory, "changed"),
      },
      {
        name: "confirm",
        key: "c",
        label: t("memory.act.confirm"),
        run: (m) => void writes.confirm(m),
      },
      {
        name: "restore",
        key: "r",
        label: t("memory.act.restore"),
        run: (m) => void writes.restore(m),
      },
      {
        name: "forget",
        key: "f",
        label: t("memory.act.forget"),
        run: (m) => void writes.forget(m),
      },
      {
        name: "delete",
        key: "d",
        label: t("memory.act.delete"),
        run: (m) => void writes.delete(m),
      },
      {
        name: "history",
        key: "h",
        label: t("memory.act.history"),
        run: (memory, open) => open(memory, "history"),
      },
      {
        name: "sources",
        key: "s",
        label: t("memory.act.sources"),
        run: (memory, open) => open(memory, "sources"),
      },
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
    [writes, edit, select],
  );
}

/** The actions that apply to a status. */
export function actionsForStatus(
  list: readonly MemoryAction[],
  status: string,
  readOnly: boolean,
): MemoryAction[] {
  const names = [
    ...(readOnly ? [] : [...(ACTIONS_BY_STATUS[status] ?? []), ...ROW_ACTIONS]),
    ...READ_ONLY_ACTIONS,
  ];
  return list.filter((one) => names.includes(one.name));
}

export function useAvailableActions(list: MemoryAction[], readOnly: boolean): MemoryActions {
  return useMemo(
    () => ({ forMemory: (memory) => actionsForStatus(list, memory.status, readOnly) }),
    [list, readOnly],
  );
}

export const MemoryActionsContext = createContext<MemoryActions>({ forMemory: () => [] });

export function useMemoryActions(): MemoryActions {
  return useContext(MemoryActionsContext);
}
