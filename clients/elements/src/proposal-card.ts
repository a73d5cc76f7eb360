/** `<lukasa-proposal-card>`: a proposal, its reason, and the user's answer: confirm, edit or reject. */
import { html, nothing, type PropertyDeclarations } from "lit";
import { define, LukasaElement, reasonOf } from "./element.ts";
import { type Done, type Memory, ruleOf } from "./source.ts";

export class LukasaProposalCard extends LukasaElement {
  static override properties: PropertyDeclarations = {
    memory: { attribute: false },
    editing: { state: true },
    refused: { state: true },
    busy: { state: true },
  };
  declare memory: Memory | undefined;
  declare editing: boolean;
  declare refused: string | undefined;
  declare busy: boolean;
  /** The result of the answer. */
  done: Done | undefined;

  constructor() {
    super();
    this.editing = false;
    this.busy = false;
  }

  /** Focuses the first control of the card. */
  override focus(options?: FocusOptions): void {
    this.renderRoot.querySelector<HTMLElement>("textarea, button")?.focus(options);
  }

  async #answer(yes: boolean, words?: string): Promise<void> {
    if (!this.memory || !this.from || this.busy) return;
    this.busy = true;
    this.refused = undefined;
    try {
      this.done = await this.from.confirm(this.memory, yes, words);
      this.editing = false;
      this.tell(yes ? "confirmed" : "forgotten", this.done);
    } catch (error) {
      this.refused = reasonOf(error, this.words);
    } finally {
      this.busy = false;
    }
  }

  #send(): void {
    const words = this.renderRoot.querySelector("textarea")?.value.trim();
    if (words) void this.#answer(true, words === this.memory?.content ? undefined : words);
  }

  #keys(event: KeyboardEvent): void {
    if (event.key === "Escape") void this.#stop();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#send();
  }

  async #edit(): Promise<void> {
    this.editing = true;
    await this.updateComplete;
    this.renderRoot.querySelector("textarea")?.focus();
  }

  async #stop(): Promise<void> {
    this.editing = false;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('[part="edit"]')?.focus();
  }

  #why(): string | undefined {
    return this.memory?.reasoning ?? this.memory?.evidence?.[0]?.description ?? undefined;
  }

  override render() {
    const { memory, words } = this;
    if (!memory) return nothing;
    const why = this.#why();
    return html`<article part="proposal" class="card" aria-label=${words.proposed}>
      <p class="muted">${words.proposed}</p>
      ${
        this.editing
          ? html`
              <textarea part="input" dir="auto" aria-label=${words.edit} .value=${memory.content}
                @keydown=${this.#keys}></textarea>
              <p class="row">
                <button class="primary" ?disabled=${this.busy} @click=${this.#send}>${words.save}</button>
                <button class="quiet" @click=${this.#stop}>${words.cancel}</button>
              </p>
            `
          : html`<p part="content" dir="auto">${memory.content}</p>
              ${ruleOf(memory) ? html`<p part="rule" class="muted">${ruleOf(memory)}</p>` : nothing}
              ${why ? html`<p class="muted">${words.because}: <bdi>${why}</bdi></p>` : nothing}
              <p class="row">
                <button part="confirm" class="primary" ?disabled=${this.busy}
                  @click=${() => this.#answer(true)}>${words.confirm}</button>
                <button part="edit" ?disabled=${this.busy} @click=${this.#edit}>${words.edit}</button>
                <button part="reject" class="quiet" ?disabled=${this.busy}
                  @click=${() => this.#answer(false)}>${words.reject}</button>
              </p>`
      }
      ${this.refused ? html`<p role="alert" class="problem">${this.refused}</p>` : nothing}
    </article>`;
  }
}

define("lukasa-proposal-card", LukasaProposalCard);
