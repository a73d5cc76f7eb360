/**
 * The filtered set that every view of the Memory page shows: memories, counts of the tabs, and groups. Ten
 * thousand memories are sorted when they change and filtered with every key press.
 */
import type { MemoryView } from "lukasa-client";
import { useCallback, useMemo } from "react";
import { useMemories } from "../../data/memories.ts";
import { type PointInTime, usePast } from "../../data/past.ts";
import { useDisputed } from "../../data/review.ts";
import {
  type Filter,
  type Group,
  group,
  newest,
  ordered,
  type Source,
  select,
} from "../../data/select.ts";
import { useUseCounts } from "../../data/uses.ts";
import { currentStatuses, type MemoryParams } from "./params.ts";

export const TABS = ["all", "hard", "soft", "forgotten", "trashed"] as const;
export type Tab = (typeof TABS)[number];

/** The tab of a search. Forgotten and trashed are separate tabs; hard and soft split the current memories. */
export function tabOf({ status, force }: MemoryParams): Tab {
  if (status === "forgotten" || status === "trashed") return status;
  return force === "hard" || force === "soft" ? force : "all";
}

export function pointInTimeOf({ as_of, known_at }: MemoryParams): PointInTime | undefined {
  return as_of || known_at ? { as_of, known_at } : undefined;
}

const SOURCES: readonly Source[] = ["said", "assistant", "inferred", "imported"];

/** The filter of the address, without the tab. */
function filterOf(search: MemoryParams, text: string): Filter {
  return {
    text: search.how === "meaning" ? undefined : text,
    domain: search.domain === "none" ? "" : search.domain,
    project: search.project === "none" ? "" : search.project,
    category: search.category,
    certainty: search.tier,
    tag: search.tag,
    from: SOURCES.find((one) => one === search.from),
  };
}

export interface MemorySet {
  /** All memories of every status. */
  all: readonly MemoryView[];
  byId: ReadonlyMap<string, MemoryView>;
  /** The memories that match filter and tab, the latest first. */
  shown: readonly MemoryView[];
  /** Counts of each tab under this filter. */
  counts: Record<Tab, number>;
  /** Applies filter and tab to other memories: versions of the past. */
  matching: (memories: readonly MemoryView[]) => readonly MemoryView[];
  proposals: readonly MemoryView[];
  /** How many recent answers used each memory, in the order by use. */
  uses: ReadonlyMap<string, number> | undefined;
  /** The memories that are contradicted, and wait for the user's answer. */
  disputed: ReadonlySet<string>;
  complete: boolean;
  error: unknown;
  refetch: () => void;
}

const NONE: ReadonlySet<string> = new Set();

export function useMemorySet(search: MemoryParams, text: string): MemorySet {
  const then = pointInTimeOf(search);
  const looksBack = then !== undefined;
  const now = useMemories();
  const past = usePast(then);
  const all = then ? past.all : now.all;
  const { sort } = search;
  const uses = useUseCounts(sort === "used").data;
  const waiting = useDisputed();
  const sorted = useMemo(() => (sort ? ordered(all, sort, uses) : newest(all)), [all, sort, uses]);
  const found = useMemo(() => select(sorted, filterOf(search, text)), [sorted, search, text]);
  const tab = tabOf(search);
  const isCurrent = tab === "all" || tab === "hard" || tab === "soft";
  const { status, tier } = search;
  const parts = useMemo(() => {
    const statuses = isCurrent ? currentStatuses({ status, tier }) : ["active"];
    const stand = found.filter((memory) => statuses.includes(memory.status));
    const of = (word: string) => found.filter((memory) => memory.status === word);
    return {
      all: stand,
      hard: stand.filter((memory) => memory.force === "hard"),
      soft: stand.filter((memory) => memory.force !== "hard"),
      forgotten: of("forgotten"),
      trashed: of("trashed"),
    };
  }, [found, isCurrent, status, tier]);
  const byId = useMemo(
    () => (looksBack ? new Map(all.map((memory) => [memory.id, memory])) : now.byId),
    [looksBack, all, now.byId],
  );
  return {
    all,
    byId,
    uses,
    disputed: looksBack ? NONE : waiting,
    shown: parts[tab],
    counts: useMemo(
      () => Object.fromEntries(TABS.map((one) => [one, parts[one].length])) as Record<Tab, number>,
      [parts],
    ),
    matching: useCallback(
      (memories: readonly MemoryView[]) => {
        const matches = select(memories, filterOf(search, text));
        if (tab === "hard") return matches.filter((memory) => memory.force === "hard");
        return tab === "soft" ? matches.filter((memory) => memory.force !== "hard") : matches;
      },
      [search, text, tab],
    ),
    proposals: useMemo(() => found.filter((memory) => memory.status === "proposed"), [found]),
    complete: then ? !past.isPending : now.complete,
    error: then ? past.error : now.error,
    refetch: () => void (then ? past.refetch() : now.refetch()),
  };
}

const CATEGORIES = ["profile", "style", "context", "fact"];

/** The groups of the list: by category, or by domain with the rest last. */
export function groupsOf(memories: readonly MemoryView[], by: "category" | "domain"): Group[] {
  if (by === "category") return group(memories, (memory) => memory.category, CATEGORIES);
  const groups = group(memories, (memory) => memory.domain ?? "");
  return [...groups.filter((one) => one.name), ...groups.filter((one) => !one.name)];
}

/** The groups of the timeline, the latest first. `stretch` names the month or year that an instant is in. */
export function timelineGroups(
  memories: readonly MemoryView[],
  at: (memory: MemoryView) => string,
  stretch: (at: string) => string,
): Group[] {
  const sorted = [...memories].sort((a, b) => (at(a) < at(b) ? 1 : -1));
  const groups: Group[] = [];
  for (const memory of sorted) {
    const name = stretch(at(memory));
    const last = groups.at(-1);
    if (last?.name === name) last.memories.push(memory);
    else groups.push({ name, memories: [memory] });
  }
  return groups;
}
