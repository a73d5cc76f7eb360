/**
 * Lukasa's memory panel for any page, as custom elements. Importing this module defines them; `connect` sets
 * the server.
 *
 * @packageDocumentation
 */
import type { LukasaBudgetMeter } from "./budget-meter.ts";
import type { LukasaMemoryEvent } from "./memory-event.ts";
import type { LukasaMemoryPanel } from "./memory-panel.ts";
import type { LukasaProposalCard } from "./proposal-card.ts";
import type { LukasaSources } from "./sources.ts";

export { LukasaBudgetMeter } from "./budget-meter.ts";
export { type Connection, connect, lukasaSource } from "./connect.ts";
export type { Happening, LukasaEventDetail } from "./element.ts";
export { LukasaMemoryEvent } from "./memory-event.ts";
export { LukasaMemoryPanel } from "./memory-panel.ts";
export { LukasaProposalCard } from "./proposal-card.ts";
export { type Done, type Memory, type Source, useSource } from "./source.ts";
export { LukasaSources } from "./sources.ts";
export { setStrings, WORDS, type Words } from "./words.ts";

declare global {
  interface HTMLElementTagNameMap {
    "lukasa-budget-meter": LukasaBudgetMeter;
    "lukasa-memory-event": LukasaMemoryEvent;
    "lukasa-memory-panel": LukasaMemoryPanel;
    "lukasa-proposal-card": LukasaProposalCard;
    "lukasa-sources": LukasaSources;
  }
}
