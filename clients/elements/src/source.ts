/**
 * Data source of the elements: a Lukasa server, reached with a token of the user, or the assistant that shows
 * the panel. The elements are independent of both.
 */
import type { MemoryEvent, MemoryView, OperationView, WhyView, WriteResult } from "lukasa-client";

/** The fields of a memory that the elements use. */
export type Memory = Pick<MemoryView, "id" | "content" | "status"> & Partial<MemoryView>;

/** The result of a write: the current memory, and the operation for undo. */
export interface Done {
  memory?: Memory | null;
  event?: Partial<MemoryEvent>;
  message?: string;
}

export interface Source {
  list(): Promise<Memory[]>;
  /** The proposals that wait for the user's answer. */
  proposals(): Promise<Memory[]>;
  save(content: string): Promise<Done>;
  update(memory: Memory, content: string): Promise<Done>;
  forget(memory: Memory): Promise<Done>;
  /** Confirms that a memory is still true; or answers a proposal, optionally with edited text. */
  confirm(memory: Memory, yes?: boolean, words?: string): Promise<Done>;
  /** Absent if undo is not available. */
  undo?(operation: string): Promise<Done>;
  why?(session: string, turn: number): Promise<WhyView>;
  /** Calls back after every write, until the signal is aborted. */
  watch?(changed: (operation: OperationView) => void, signal: AbortSignal): void;
}

let page: Source | undefined;
const waiting = new Set<() => void>();

/** Sets the source of all elements of this page that have none of their own. */
export function useSource(source: Source): void {
  page = source;
  for (const notify of waiting) notify();
}

export function pageSource(): Source | undefined {
  return page;
}

/** Calls back when the page gets its source. */
export function whenSource(notify: () => void): () => void {
  waiting.add(notify);
  return () => waiting.delete(notify);
}

/** The operation of a write, if something was written. */
export function operationOf(done: Done | WriteResult | undefined): string | undefined {
  return done?.event?.operation_id ?? undefined;
}

/** A value of a rule as text: the elements of a list, or the keys and values of an object, with commas. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([key, one]) => `${key} ${valueText(one)}`)
      .join(", ");
  }
  return String(value);
}

/** The key of a rule with its value, unless the content says the same. */
export function ruleOf(memory: Memory): string | undefined {
  if (!memory.key) return undefined;
  const value = valueText(memory.value);
  return value && value !== memory.content ? `${memory.key}: ${value}` : memory.key;
}
