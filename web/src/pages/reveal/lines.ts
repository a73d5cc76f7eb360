/** The lines of the reveal page: areas with their memories, the largest area first. Pure. */
import type { MemoryView } from "lukasa-client";
import { group } from "../../data/select.ts";

export interface Area {
  /** The domain; empty for memories of none. */
  name: string;
  memories: readonly MemoryView[];
}

export type Line = { kind: "area"; area: Area } | { kind: "memory"; memory: MemoryView };

/** The areas, the largest first; memories of no area last. */
export function areasOf(memories: readonly MemoryView[]): Area[] {
  return group(memories, ({ domain }) => domain ?? "").sort((a, b) => {
    if (!a.name || !b.name) return a.name ? -1 : b.name ? 1 : 0;
    return b.memories.length - a.memories.length || a.name.localeCompare(b.name);
  });
}

export function linesOf(areas: readonly Area[]): Line[] {
  return areas.flatMap((area): Line[] => [
    { kind: "area", area },
    ...area.memories.map((memory): Line => ({ kind: "memory", memory })),
  ]);
}

/** The next line with a memory in a direction; the same one if there is none. */
export function nextMemory(lines: readonly Line[], from: number, by: 1 | -1): number {
  for (let at = from + by; at >= 0 && at < lines.length; at += by)
    if (lines[at]?.kind === "memory") return at;
  return from;
}
