/**
 * Quipu's memory panel for any page, as custom elements. Importing this defines them; `connect` says where
 * the memory is.
 *
 * @packageDocumentation
 */
import type { QuipuBudgetMeter } from "./budget-meter.ts";
import type { QuipuMemoryEvent } from "./memory-event.ts";
import type { QuipuMemoryPanel } from "./memory-panel.ts";
import type { QuipuProposalCard } from "./proposal-card.ts";
import type { QuipuSources } from "./sources.ts";

export { QuipuBudgetMeter } from "./budget-meter.ts";
export { type Connection, connect, quipuSource } from "./connect.ts";
export type { Happening, QuipuEventDetail } from "./element.ts";
export { QuipuMemoryEvent } from "./memory-event.ts";
export { QuipuMemoryPanel } from "./memory-panel.ts";
export { QuipuProposalCard } from "./proposal-card.ts";
export { type Done, type Memory, type Source, useSource } from "./source.ts";
export { QuipuSources } from "./sources.ts";
export { say, WORDS, type Words } from "./words.ts";

declare global {
  interface HTMLElementTagNameMap {
    "quipu-budget-meter": QuipuBudgetMeter;
    "quipu-memory-event": QuipuMemoryEvent;
    "quipu-memory-panel": QuipuMemoryPanel;
    "quipu-proposal-card": QuipuProposalCard;
    "quipu-sources": QuipuSources;
  }
}
