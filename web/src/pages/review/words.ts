/** What a shut area of a life is, in plain words. */
import type { DomainView } from "lukasa-client";
import { known, t } from "../../i18n/index.ts";

export function domainWords(domain: DomainView): { name: string; text: string } {
  const name = `review.domain.${domain.name}`;
  const text = `review.domain.${domain.name}.text`;
  return {
    name: known(name) ? t(name) : domain.display_name,
    text: known(text) ? t(text) : t("review.domain.other.text"),
  };
}

const NEVER = "lukasa.neverAsk";

/** Whether this person has said, in this browser, never to be asked about shut areas. */
export function neverAsk(user: string): boolean {
  return read().includes(user);
}

export function setNeverAsk(user: string, never: boolean): void {
  const others = read().filter((one) => one !== user);
  localStorage.setItem(NEVER, JSON.stringify(never ? [...others, user] : others));
}

function read(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NEVER) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
