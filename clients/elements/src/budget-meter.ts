/** `<lukasa-budget-meter>`: the share of memory in a prompt, as a bar and in numbers. */

import { css, html, nothing, type PropertyDeclarations } from "lit";
import type { BudgetView } from "lukasa-client";
import { define, LukasaElement } from "./element.ts";
import { look } from "./look.ts";
import { fill } from "./words.ts";

export class LukasaBudgetMeter extends LukasaElement {
  static override styles = [
    look,
    css`
      progress {
        width: 100%;
        height: 8px;
        accent-color: var(--_accent);
      }
    `,
  ];
  static override properties: PropertyDeclarations = { budget: { attribute: false } };
  /** The `budget` of a retrieved context. */
  declare budget: BudgetView | undefined;

  override render() {
    const { budget, words } = this;
    if (!budget) return nothing;
    const format = (tokens: number) =>
      tokens.toLocaleString(document.documentElement.lang || undefined);
    const { used, limit, baseline, dynamic } = budget;
    return html`<section part="meter" aria-label=${words.budget}>
      <p class="row">
        <span class="grow">${words.budget}</span>
        <span class="muted">${fill(words.tokens, { used: format(used), limit: format(limit) })}</span>
      </p>
      <progress part="bar" aria-label=${words.budget} max=${Math.max(limit, used)} value=${used}></progress>
      <p class="muted">
        ${words.baseline} ${format(baseline)} · ${words.dynamic} ${format(dynamic)} · ${words.free}
        ${format(Math.max(0, limit - used))}
      </p>
    </section>`;
  }
}

define("lukasa-budget-meter", LukasaBudgetMeter);
