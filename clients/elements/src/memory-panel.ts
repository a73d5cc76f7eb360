/**
 * `<lukasa-memory-panel>`: everything that is remembered about the user, with proposals on top, and rules and
 * context in separate tabs. Each write can be undone from the line below.
 */
import { css, html, nothing, type PropertyDeclarations } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { define, LukasaElement, reasonOf } from "./element.ts";
import { look } from "./look.ts";
import type { LukasaProposalCard } from "./proposal-card.ts";
import { type Done, type Memory, ruleOf } from "./source.ts";
import { fill } from "./words.ts";
import "./memory-event.ts";
import "./proposal-card.ts";

type Tab = "hard" | "soft";
const TABS: Tab[] = ["hard", "soft"];

export class LukasaMemoryPanel extends LukasaElement {
  static override styles = [
    look,
    css`
      .tabs button {
        border-color: transparent;
        background: none;
        border-radius: 0;
        border-bottom: 2px solid transparent;
        color: var(--_muted);
      }
      .tabs button[aria-selected="true"] {
        color: var(--_ink);
        border-bottom-color: var(--_accent);
      }
      li.row {
        padding: 7px 0;
        border-top: 1px solid var(--_line);
      }
      section {
        display: grid;
        gap: 10px;
      }
    `,
  ];
  static override properties: PropertyDeclarations = {
    tab: { type: String },
    locale: { type: String },
    memories: { state: true },
    waiting: { state: true },
    editing: { state: true },
    failed: { state: true },
    refused: { state: true },
    done: { state: true },
  };
  /** The open tab; by default the one that is not empty. */
  declare tab: Tab | undefined;
  /** For dates; the page's language if absent. */
  declare locale: string | undefined;
  declare memories: Memory[] | undefined;
  declare waiting: Memory[];
  declare editing: string | undefined;
  /** Whether reading failed. */
  declare failed: boolean;
  /** Why the last write was refused; the list stays visible. */
  declare refused: string | undefined;
  declare done: Done | undefined;
  #watching: AbortController | undefined;

  constructor() {
    super();
    this.waiting = [];
    this.failed = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.sourced();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#watching?.abort();
  }

  override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("source") && this.source) this.sourced();
  }

  protected override sourced(): void {
    if (!this.from) return;
    this.#watching?.abort();
    this.#watching = new AbortController();
    this.from.watch?.(() => void this.load(), this.#watching.signal);
    void this.load();
  }

  /** Reads everything again. */
  async load(): Promise<void> {
    const { from } = this;
    if (!from) return;
    try {
      const [memories, waiting] = await Promise.all([from.list(), from.proposals()]);
      this.memories = memories.filter((one) => one.status === "active");
      this.waiting = waiting;
      this.failed = false;
    } catch {
      this.failed = true;
    }
  }

  async #act(what: "saved" | "forgotten" | "confirmed", work: () => Promise<Done> | undefined) {
    this.refused = undefined;
    try {
      this.done = await work();
      this.tell(what, this.done);
      this.editing = undefined;
      await this.load();
      return true;
    } catch (error) {
      this.refused = reasonOf(error, this.words);
      return false;
    }
  }

  /** Moves the focus to the first of these places that exists, because the focused element was removed. */
  async #focusFirst(...places: (string | [selector: string, at: number])[]): Promise<void> {
    await this.updateComplete;
    for (const place of [...places, "input"]) {
      const [selector, at] = typeof place === "string" ? [place, 0] : place;
      const all = this.renderRoot.querySelectorAll<HTMLElement>(selector);
      const found = all[Math.min(at, all.length - 1)];
      if (found) return found.focus();
    }
  }

  // Not a form: assistants show the panel in a sandbox, and most forbid forms.
  async #add(): Promise<void> {
    const input = this.renderRoot.querySelector("input");
    const content = input?.value.trim();
    if (!input || !content) return;
    if (await this.#act("saved", () => this.from?.save(content))) input.value = "";
  }

  async #change(memory: Memory): Promise<void> {
    const content = this.renderRoot.querySelector("textarea")?.value.trim();
    const changed = content && content !== memory.content;
    if (changed && !(await this.#act("saved", () => this.from?.update(memory, content)))) return;
    await this.#stop(memory);
  }

  /** Ends editing, and moves the focus back to the edit button. */
  async #stop(memory: Memory): Promise<void> {
    this.editing = undefined;
    await this.#focusFirst(`[part="edit"][data-of="${CSS.escape(memory.id)}"]`);
  }

  async #forget(memory: Memory): Promise<void> {
    const at = this.#of(this.#open)?.indexOf(memory) ?? 0;
    const forgotten = await this.#act("forgotten", () => this.from?.forget(memory));
    if (forgotten) await this.#focusFirst(['[part="forget"]', at]);
  }

  /** A proposal was answered: the line below offers its undo. */
  async #answered(event: Event): Promise<void> {
    this.done = (event.target as LukasaProposalCard).done;
    await this.load();
    await this.#focusFirst("lukasa-proposal-card");
  }

  async #edit(memory: Memory): Promise<void> {
    this.editing = memory.id;
    await this.updateComplete;
    this.renderRoot.querySelector("textarea")?.focus();
  }

  /** Arrow keys switch between the tabs. */
  #arrow(event: KeyboardEvent): void {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    this.tab = this.#open === "hard" ? "soft" : "hard";
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>('[aria-selected="true"]')?.focus(),
    );
  }

  override render() {
    const { words } = this;
    return html`<section part="panel" aria-label=${words.title}>
      ${this.waiting.map(
        (
          memory,
        ) => html`<lukasa-proposal-card exportparts="proposal, content, confirm, edit, reject"
          .source=${this.source} .strings=${this.strings} .memory=${memory}
          @lukasa-confirmed=${this.#answered} @lukasa-forgotten=${this.#answered}></lukasa-proposal-card>`,
      )}
      <div part="add" class="row">
        <input class="grow" part="input" dir="auto" autocomplete="off"
          aria-label=${words.add} placeholder=${words.add}
          @keydown=${(event: KeyboardEvent) => {
            if (event.key === "Enter" && !event.isComposing) void this.#add();
          }} />
        <button @click=${this.#add}>${words.save}</button>
      </div>
      ${this.refused ? html`<p role="alert" part="problem" class="problem">${this.refused}</p>` : nothing}
      ${this.#tabs()}
      <div id="list" role=${this.#split() ? "tabpanel" : "group"}
        aria-label=${this.#split() ? words[this.#open] : words.title}>${this.#list()}</div>
      <lukasa-memory-event exportparts="event, undo" .source=${this.source} .strings=${this.strings}
        .done=${this.done} @lukasa-undone=${this.load}></lukasa-memory-event>
    </section>`;
  }

  /** Whether there are rules: tool results for assistants include `force` only for these. */
  #split(): boolean {
    return this.memories?.some((one) => one.force !== undefined) ?? false;
  }

  get #open(): Tab {
    if (this.tab) return this.tab;
    return this.#of("soft")?.length === 0 && this.#of("hard")?.length ? "hard" : "soft";
  }

  #tabs() {
    const { words } = this;
    if (!this.#split()) return nothing;
    return html`<div part="tabs" class="tabs row" role="tablist" aria-label=${words.title}
      @keydown=${this.#arrow}>
        ${TABS.map((tab) => {
          const count = this.#of(tab)?.length;
          return html`<button part="tab" role="tab" aria-selected=${this.#open === tab}
            aria-controls="list" tabindex=${this.#open === tab ? 0 : -1} @click=${() => {
              this.tab = tab;
            }}>${words[tab]} ${count === undefined ? nothing : html`<span class="badge">${count}</span>`}</button>`;
        })}
      </div>`;
  }

  #of(tab: Tab): Memory[] | undefined {
    if (!this.#split()) return this.memories;
    return this.memories?.filter((one) => (one.force === "hard") === (tab === "hard"));
  }

  #list() {
    const { words } = this;
    if (this.failed) {
      return html`<p role="alert" class="muted">${words.failed}
        <button @click=${this.load}>${words.retry}</button></p>`;
    }
    const shown = this.#of(this.#open);
    if (!shown) return html`<p class="muted">${words.loading}</p>`;
    if (shown.length === 0) {
      const empty = this.#split() && this.#open === "hard" ? words.emptyHard : words.emptySoft;
      return html`<p class="muted">${empty}</p>`;
    }
    return html`<ul part="list">
      ${repeat(
        shown,
        (one) => one.id,
        (one) => (this.editing === one.id ? this.#form(one) : this.#row(one)),
      )}
    </ul>`;
  }

  #form(memory: Memory) {
    const { words } = this;
    const keys = (event: KeyboardEvent) => {
      if (event.key === "Escape") void this.#stop(memory);
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.#change(memory);
    };
    return html`<li class="row">
      <textarea class="grow" part="input" dir="auto" aria-label=${words.edit} .value=${memory.content}
        @keydown=${keys}></textarea>
      <button class="primary" @click=${() => this.#change(memory)}>${words.save}</button>
      <button class="quiet" @click=${() => this.#stop(memory)}>${words.cancel}</button>
    </li>`;
  }

  #row(memory: Memory) {
    const { words } = this;
    const isConfirmed = memory.consented_at || memory.origin?.startsWith("user_");
    const when = isConfirmed ? (memory.last_confirmed_at ?? memory.confirmed_at) : null;
    return html`<li part="memory" class="row">
      <span class="grow">
        <span part="content" dir="auto">${memory.content}</span>
        ${ruleOf(memory) ? html`<span part="rule" class="badge">${ruleOf(memory)}</span>` : nothing}
        ${memory.domain ? html`<span part="domain" class="badge">${memory.domain}</span>` : nothing}
        ${when ? html`<span class="muted">${fill(words.confirmed, { when: this.#day(when) })}</span>` : nothing}
      </span>
      <span class="acts"><button part="edit" class="quiet" data-of=${memory.id}
        aria-label=${`${words.edit}: ${memory.content}`}
        @click=${() => this.#edit(memory)}>${words.edit}</button>
      <button part="forget" class="quiet" aria-label=${`${words.forget}: ${memory.content}`}
        @click=${() => this.#forget(memory)}>${words.forget}</button></span>
    </li>`;
  }

  #day(at: string): string {
    const language = this.locale || document.documentElement.lang || undefined;
    return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(new Date(at));
  }
}

define("lukasa-memory-panel", LukasaMemoryPanel);
