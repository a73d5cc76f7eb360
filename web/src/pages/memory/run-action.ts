import type { MemoryView } from "lukasa-client";
import type { Doing, Open } from "../../features/memory/actions.ts";
import type { Marks } from "./marks.ts";

/** Actions that remove the row from its place. */
const LEAVING = ["forget", "delete", "restore"];

/** Runs an action on the focused row, if it applies. */
export function doOnCurrent(
  name: string,
  marks: Marks,
  byId: ReadonlyMap<string, MemoryView>,
  doing: Doing,
  open: Open,
): void {
  const memory = marks.current === undefined ? undefined : byId.get(marks.current);
  if (!memory) return;
  const act = doing.actsOn(memory).find((one) => one.name === name);
  if (!act || (LEAVING.includes(name) && !marks.leave(memory.id))) return;
  act.run(memory, open);
}
