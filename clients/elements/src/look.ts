/**
 * Styles of the elements: they use the page's font, and its colours where it sets them. Everything else can
 * be changed with custom properties, and every part has a name for `::part`.
 */
import { css } from "lit";

export const look = css`
  :host {
    --_ink: var(--lukasa-ink, light-dark(#26211e, #efebe8));
    --_muted: var(--lukasa-muted, light-dark(#635a54, #b5aca6));
    --_surface: var(--lukasa-surface, light-dark(#fff, #24201e));
    --_sunken: var(--lukasa-sunken, light-dark(#f6f3f0, #1b1816));
    --_line: var(--lukasa-line, light-dark(#e4dfda, #3b3531));
    --_accent: var(--lukasa-accent, light-dark(#a63d22, #f0936f));
    --_on-accent: var(--lukasa-on-accent, light-dark(#fff, #241009));
    --_bad: var(--lukasa-bad, light-dark(#a81f27, #f58d88));
    --_radius: var(--lukasa-radius, 8px);
    color: var(--_ink);
    font: var(--lukasa-font, inherit);
    line-height: 1.45;
    display: block;
    overflow-wrap: anywhere;
  }
  :host([hidden]) {
    display: none;
  }
  button,
  input,
  textarea {
    font: inherit;
    color: inherit;
  }
  button {
    min-height: 28px;
    padding: 2px 10px;
    border: 1px solid var(--_line);
    border-radius: calc(var(--_radius) - 2px);
    background: var(--_surface);
    cursor: pointer;
    white-space: nowrap;
  }
  button:hover {
    background: var(--_sunken);
  }
  button.primary {
    background: var(--_accent);
    border-color: transparent;
    color: var(--_on-accent);
  }
  button.quiet {
    border-color: transparent;
    background: none;
    color: var(--_muted);
  }
  button.quiet:hover {
    color: var(--_ink);
    background: var(--_sunken);
  }
  input,
  textarea {
    box-sizing: border-box;
    width: 100%;
    min-height: 32px;
    padding: 4px 8px;
    border: 1px solid var(--_line);
    border-radius: calc(var(--_radius) - 2px);
    background: var(--_surface);
  }
  textarea {
    field-sizing: content;
    resize: vertical;
  }
  :focus-visible {
    outline: 2px solid var(--_accent);
    outline-offset: 1px;
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    align-items: center;
  }
  .grow {
    flex: 1 1 12em;
    min-width: 0;
  }
  .acts {
    margin-inline-start: auto;
    white-space: nowrap;
  }
  .muted {
    color: var(--_muted);
    font-size: 0.875em;
  }
  .problem {
    color: var(--_bad);
    font-size: 0.875em;
  }
  .badge {
    display: inline-block;
    padding: 0 7px;
    border: 1px solid var(--_line);
    border-radius: 99px;
    color: var(--_muted);
    font-size: 0.8em;
  }
  .card {
    display: grid;
    gap: 6px;
    padding: 12px;
    border: 1px solid var(--_line);
    border-radius: var(--_radius);
    background: var(--_surface);
  }
  p,
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
`;
