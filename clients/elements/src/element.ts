/** Base class of all elements: source, texts and events. */

import { LitElement, type PropertyDeclarations } from "lit";
import { LukasaError } from "lukasa-client";
import { look } from "./look.ts";
import {
  type Done,
  type Memory,
  operationOf,
  pageSource,
  type Source,
  whenSource,
} from "./source.ts";
import { type Words, words } from "./words.ts";

/** The events of the elements; all bubble and cross shadow roots. */
export type Happening = "saved" | "undone" | "forgotten" | "confirmed";

export interface LukasaEventDetail {
  memory?: Memory | null;
  operation?: string;
}

export class LukasaElement extends LitElement {
  static override styles = [look];
  static override properties: PropertyDeclarations = {
    source: { attribute: false },
    strings: { attribute: false },
  };
  declare source: Source | undefined;
  declare strings: Partial<Words> | undefined;
  #unsubscribe: (() => void) | undefined;

  /** The element's own source, or the page's. */
  get from(): Source | undefined {
    return this.source ?? pageSource();
  }

  get words(): Words {
    return words(this.strings);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = whenSource(() => this.sourced());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe?.();
  }

  /** Called when the page gets its source after the element was connected. */
  protected sourced(): void {
    this.requestUpdate();
  }

  protected tell(what: Happening, done: Done | undefined): void {
    const detail: LukasaEventDetail = { memory: done?.memory, operation: operationOf(done) };
    this.dispatchEvent(
      new CustomEvent(`lukasa-${what}`, { detail, bubbles: true, composed: true }),
    );
  }
}

/** The reason of a refused write, from the server if available. */
export function reasonOf(error: unknown, words: Words): string {
  if (!(error instanceof LukasaError)) return words.refused;
  const fields = error.errors.map((one) => one.detail).join("; ");
  return fields ? `${error.title}: ${fields}` : error.title;
}

/** Registers an element, unless one of that name is already defined. */
export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}
