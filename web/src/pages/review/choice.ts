/** The list of the Review page: its entries, and the selection of ranges. Pure. */
import type { MemoryView } from "lukasa-client";
import { newest } from "../../data/select.ts";

/** Kinds of cards that can be answered many at once: all of one kind have the same question. */
export const LIST_KINDS = ["proposal", "candidate"] as const;
export type ListKind = (typeof LIST_KINDS)[number];

/** The suggestions, then the guesses; of one kind or area only, if given. */
export function entriesOf(
  memories: readonly MemoryView[],
  kind?: ListKind,
  domain?: string,
): MemoryView[] {
  const inArea = memories.filter(
    (memory) => domain === undefined || (memory.domain ?? "") === domain,
  );
  const of = (status: string) => newest(inArea.filter((memory) => memory.status === status));
  return [
    ...(kind === "candidate" ? [] : of("proposed")),
    ...(kind === "proposal" ? [] : of("candidate")),
  ];
}

export function kindOf(memory: Pick<MemoryView, "status">): ListKind {
  return memory.status === "proposed" ? "proposal" : "candidate";
}

/** The areas of the entries with their counts, the largest first. */
export function areasOf(entries: readonly MemoryView[]): [domain: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { domain } of entries) counts.set(domain ?? "", (counts.get(domain ?? "") ?? 0) + 1);
  return [...counts].sort(([a, first], [b, second]) => second - first || a.localeCompare(b));
}

export interface Selection {
  ids: ReadonlySet<string>;
  /** Where a range begins: the entry that was last chosen by itself. */
  anchor?: string;
}

export const NOTHING_SELECTED: Selection = { ids: new Set() };

export function toggle({ ids }: Selection, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** Adds all entries between the anchor and this one. */
export function extend(selection: Selection, id: string, order: readonly string[]): Selection {
  const anchor = selection.anchor ?? id;
  const [from, to] = [order.indexOf(anchor), order.indexOf(id)].sort((a, b) => a - b);
  if (from === undefined || to === undefined || from < 0) return toggle(selection, id);
  return { ids: new Set([...selection.ids, ...order.slice(from, to + 1)]), anchor };
}
