/** Names and descriptions of sensitive domains, and the choice never to be asked. */
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

const STORAGE_KEY = "lukasa.neverAsk";

/** Whether the user chose, in this browser, never to be asked about sensitive domains. */
export function neverAsk(user: string): boolean {
  return read().includes(user);
}

export function setNeverAsk(user: string, never: boolean): void {
  const others = read().filter((one) => one !== user);
  localStorage.setItem(STORAGE_KEY, JSON.stringify(never ? [...others, user] : others));
}

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
