/** The history of a memory as steps: each operation, with the memory before and after it. Pure. */
import type { MemoryView, OperationView } from "lukasa-client";

export interface Step {
  operation: OperationView;
  /** The memory after the operation, and before it if it existed. */
  after?: MemoryView;
  before?: MemoryView;
}

/** Joins operations with the versions they wrote, by the time at which both became known. */
export function stepsOf(
  operations: readonly OperationView[],
  versions: readonly MemoryView[],
): Step[] {
  const oldest = [...operations].sort((a, b) => (a.at < b.at ? -1 : 1));
  let before: MemoryView | undefined;
  const steps = oldest.map((operation): Step => {
    // One write may end a version and begin another: the one with the latest validity is the current text.
    const written = versions.filter((one) => one.known_from === operation.at);
    const after = written.reduce<MemoryView | undefined>(
      (latest, one) => (!latest || one.valid_from >= latest.valid_from ? one : latest),
      undefined,
    );
    const step = { operation, after, before };
    before = after ?? before;
    return step;
  });
  return steps.reverse();
}
