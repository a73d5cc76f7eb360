/**
 * What a person has chosen about the console itself. It stays in this browser: none of it is memory, and
 * `public/theme.js` has to read it before anything is drawn.
 */
import { useSyncExternalStore } from "react";
import { LANGUAGES, type Language, languageOf } from "../i18n/index.ts";

export interface Preferences {
  theme: "light" | "dark" | "system";
  density: "comfortable" | "compact";
  /** Whether single keys act; people who dictate switch it off (WCAG 2.1.4). */
  singleKeys: boolean;
  language: Language;
  /** An IANA name, or null for the browser's. */
  timeZone: string | null;
}

const PLACE = "lukasa.preferences";
const listeners = new Set<() => void>();
let current = load();

function load(): Preferences {
  let said: Partial<Preferences> = {};
  try {
    said = JSON.parse(localStorage.getItem(PLACE) ?? "{}") as Partial<Preferences>;
  } catch {
    // Storage is forbidden or holds something else: the defaults do.
  }
  return {
    theme: said.theme === "light" || said.theme === "dark" ? said.theme : "system",
    density: said.density === "compact" ? "compact" : "comfortable",
    singleKeys: said.singleKeys !== false,
    language:
      said.language && Object.hasOwn(LANGUAGES, said.language)
        ? said.language
        : languageOf(navigator.languages),
    timeZone: typeof said.timeZone === "string" ? said.timeZone : null,
  };
}

export function preferences(): Preferences {
  return current;
}

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(PLACE, JSON.stringify(current));
  } catch {
    // It then lasts as long as the page.
  }
  for (const tell of listeners) tell();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences);
}
