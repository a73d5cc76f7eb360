/** The memories without an area that are offered for sorting. Pure. */
import type { MemoryView, SuggestedDomain } from "lukasa-client";

/** A memory, and the area suggested for it. */
export interface Filing {
  memory: MemoryView;
  area?: string;
}

/** More lines are offered after these are sorted. */
export const MAX_OFFERED = 200;

/** Those with a suggestion first, each area together, and in the order of the list otherwise. */
export function filingsOf(
  memories: readonly MemoryView[],
  suggestions: readonly SuggestedDomain[],
): Filing[] {
  const areas = new Map(suggestions.map((one) => [one.memory_id, one.domain]));
  const filings = memories
    .filter(({ status }) => status === "active")
    .map((memory) => ({ memory, area: areas.get(memory.id) }));
  const suggested = filings.filter((one) => one.area !== undefined);
  suggested.sort((a, b) => (a.area ?? "").localeCompare(b.area ?? ""));
  return [...suggested, ...filings.filter((one) => one.area === undefined)].slice(0, MAX_OFFERED);
}
