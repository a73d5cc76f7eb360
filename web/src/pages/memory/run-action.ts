import type { MemoryView } from "lukasa-client";
import type { MemoryActions, OpenMemory } from "../../features/memory/actions.ts";
import type { Marks } from "./marks.ts";

/** Actions that remove the row from its place. */
const REMOVING_ACTIONS = ["forget", "delete", "restore"];

/** Runs an action on the focused row, if it applies. */
export function runOnCurrent(
  name: string,
  marks: Marks,
  byId: ReadonlyMap<string, MemoryView>,
  actions: MemoryActions,
  open: OpenMemory,
): void {
  const memory = marks.current === undefined ? undefined : byId.get(marks.current);
  if (!memory) return;
  const action = actions.forMemory(memory).find((one) => one.name === name);
  if (!action || (REMOVING_ACTIONS.includes(name) && !marks.leave(memory.id))) return;
  action.run(memory, open);
}
