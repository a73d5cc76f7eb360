/** The life of a memory as a row of steps: each operation, with the words before and after it. Pure. */
import type { MemoryView, OperationView } from "lukasa-client";

export interface Step {
  operation: OperationView;
  /** The memory after it, and before it if it was there before. */
  after?: MemoryView;
  before?: MemoryView;
}

/** Joins operations with the rows that they wrote; an operation is an instant of the known axis. */
export function stepsOf(
  operations: readonly OperationView[],
  versions: readonly MemoryView[],
): Step[] {
  const oldest = [...operations].sort((a, b) => (a.at < b.at ? -1 : 1));
  let before: MemoryView | undefined;
  const steps = oldest.map((operation): Step => {
    // One write may end a row and begin another: the one that holds latest is what it says from now on.
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
