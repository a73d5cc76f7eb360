/** `<lukasa-memory-event>`: the line under a reply, "Memory saved · text · Undo". */
import { html, nothing, type PropertyDeclarations } from "lit";
import { define, LukasaElement } from "./element.ts";
import { type Done, operationOf } from "./source.ts";

export class LukasaMemoryEvent extends LukasaElement {
  static override properties: PropertyDeclarations = {
    done: { attribute: false },
    label: { type: String },
    undone: { state: true },
    failed: { state: true },
  };
  /** The response of a write: all of it, or an object with `event` and `memory`. */
  declare done: Done | undefined;
  /** A text instead of the one for the event. */
  declare label: string | undefined;
  declare undone: boolean;
  declare failed: boolean;

  constructor() {
    super();
    this.undone = false;
    this.failed = false;
  }

  override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("done")) {
      this.undone = false;
      this.failed = false;
    }
  }

  async #undo(): Promise<void> {
    const operation = operationOf(this.done);
    if (!operation) return;
    try {
      const done = await this.from?.undo?.(operation);
      this.undone = true;
      this.tell("undone", done);
    } catch {
      this.failed = true;
    }
  }

  #text(): string {
    const words = this.words;
    if (this.undone) return words.undone;
    if (this.label) return this.label;
    const type = this.done?.event?.type ?? "";
    if (type.includes("forgotten")) return words.forgotten;
    if (type.includes("confirmed")) return words.agreed;
    if (type.includes("rejected")) return words.rejected;
    return /updated|changed|corrected/.test(type) ? words.updated : words.saved;
  }

  override render() {
    if (!this.done) return nothing;
    const may = operationOf(this.done) && this.done.event?.undo !== null && this.from?.undo;
    const content = this.done.memory?.content;
    return html`<p role="status" part="event" class="row muted">
      <span>${this.#text()}</span>
      ${content ? html`<span aria-hidden="true">·</span><bdi part="content">${content}</bdi>` : nothing}
      ${
        may && !this.undone
          ? html`<button part="undo" class="quiet" @click=${this.#undo}>${this.words.undo}</button>`
          : nothing
      }
      ${this.failed ? html`<span part="problem">${this.words.failed}</span>` : nothing}
    </p>`;
  }
}

define("lukasa-memory-event", LukasaMemoryEvent);
