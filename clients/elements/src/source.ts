/**
 * Where the elements read and write: a Lukasa server that a page reaches with a person's token, or the
 * assistant that shows the panel inside a chat. The elements know neither.
 */
import type { MemoryEvent, MemoryView, OperationView, WhyView, Written } from "lukasa-client";

/** A memory as far as the elements show it. */
export type Memory = Pick<MemoryView, "id" | "content" | "status"> & Partial<MemoryView>;

/** What a write did: the memory as it stands, and the handle that takes it back. */
export interface Done {
  memory?: Memory | null;
  event?: Partial<MemoryEvent>;
  message?: string;
}

export interface Source {
  list(): Promise<Memory[]>;
  /** What waits for the person's answer. */
  proposals(): Promise<Memory[]>;
  save(content: string): Promise<Done>;
  update(memory: Memory, content: string): Promise<Done>;
  forget(memory: Memory): Promise<Done>;
  /** Says that it still holds; or answers a proposal, with other words if there are some. */
  confirm(memory: Memory, yes?: boolean, words?: string): Promise<Done>;
  /** Absent where nothing can be taken back. */
  undo?(operation: string): Promise<Done>;
  why?(session: string, turn: number): Promise<WhyView>;
  /** Calls back whenever something was written, until the signal says stop. */
  watch?(changed: (operation: OperationView) => void, signal: AbortSignal): void;
}

let page: Source | undefined;
const waiting = new Set<() => void>();

/** Makes a source the one that all elements of this page use, unless they are given another. */
export function useSource(source: Source): void {
  page = source;
  for (const tell of waiting) tell();
}

export function pageSource(): Source | undefined {
  return page;
}

/** Told when the page has got its source. */
export function whenSource(tell: () => void): () => void {
  waiting.add(tell);
  return () => waiting.delete(tell);
}

/** The operation behind an answer, if something was written. */
export function operationOf(done: Done | Written | undefined): string | undefined {
  return done?.event?.operation_id ?? undefined;
}
