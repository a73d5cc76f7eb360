/** `<lukasa-sources session turn>`: the memories behind an answer, those it used first. */

import { html, nothing, type PropertyDeclarations } from "lit";
import type { GroundsView } from "lukasa-client";
import { define, LukasaElement, reasonOf } from "./element.ts";
import type { Done } from "./source.ts";
import "./memory-event.ts";

export class LukasaSources extends LukasaElement {
  static override properties: PropertyDeclarations = {
    session: { type: String },
    turn: { type: Number },
    memories: { attribute: false },
    failed: { state: true },
    refused: { state: true },
    done: { state: true },
  };
  declare session: string | undefined;
  declare turn: number | undefined;
  /** Set by the page instead of being fetched. */
  declare memories: GroundsView[] | undefined;
  declare failed: boolean;
  /** Why forgetting was refused; the list stays visible. */
  declare refused: string | undefined;
  declare done: Done | undefined;

  constructor() {
    super();
    this.failed = false;
  }

  override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("session") || changed.has("turn") || changed.has("source")) void this.load();
  }

  protected override sourced(): void {
    void this.load();
  }

  async load(): Promise<void> {
    const { session, turn, from } = this;
    if (!session || turn === undefined || !from?.why) return;
    try {
      this.memories = (await from.why(session, turn)).memories;
      this.failed = false;
    } catch {
      this.failed = true;
    }
  }

  async #forget({ memory }: GroundsView): Promise<void> {
    this.refused = undefined;
    try {
      this.done = await this.from?.forget(memory);
      this.tell("forgotten", this.done);
      this.memories = this.memories?.filter((one) => one.memory.id !== memory.id);
    } catch (error) {
      this.refused = reasonOf(error, this.words);
    }
  }

  override render() {
    const { words } = this;
    if (this.failed) {
      return html`<p role="alert" class="muted">${words.failed}
        <button @click=${this.load}>${words.retry}</button></p>`;
    }
    if (!this.memories) return nothing;
    const used = (one: GroundsView) => one.how !== "given";
    const all = [...this.memories].sort((a, b) => Number(used(b)) - Number(used(a)));
    return html`<section part="sources" class="card" aria-label=${words.sources}>
      <p class="muted">${all.length > 0 ? words.sources : words.noSources}</p>
      <ul>
        ${all.map(
          (one) => html`<li part="source" class="row">
            <span class="grow" dir="auto">${one.memory.content}</span>
            <span class="badge">${used(one) ? words.cited : words.given}</span>
            <button class="quiet" aria-label=${`${words.forget}: ${one.memory.content}`}
              @click=${() => this.#forget(one)}>${words.forget}</button>
          </li>`,
        )}
      </ul>
      ${this.refused ? html`<p role="alert" class="problem">${this.refused}</p>` : nothing}
      <lukasa-memory-event .source=${this.source} .strings=${this.strings} .done=${this.done}
        @lukasa-undone=${this.load}></lukasa-memory-event>
    </section>`;
  }
}

define("lukasa-sources", LukasaSources);
