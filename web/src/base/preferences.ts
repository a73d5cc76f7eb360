/**
 * Settings of the console itself. They stay in this browser: none of them is memory, and `public/theme.js`
 * reads them before the first paint.
 */
import { useSyncExternalStore } from "react";
import { LANGUAGES, type Language, languageOf } from "../i18n/index.ts";

export interface Preferences {
  theme: "light" | "dark" | "system";
  density: "comfortable" | "compact";
  /** Whether single-key shortcuts are active; users who dictate switch them off (WCAG 2.1.4). */
  singleKeys: boolean;
  language: Language;
  /** An IANA name, or null for the browser's. */
  timeZone: string | null;
  /** Whether the user closed the hint about what to do after the first memory. */
  nextStepHidden: boolean;
  /** Until when the invitation to the monthly review is hidden, in milliseconds since 1970; 0 if it is not. */
  reviewHiddenUntil: number;
}

const STORAGE_KEY = "lukasa.preferences";
const listeners = new Set<() => void>();
let current = load();

function load(): Preferences {
  let stored: Partial<Preferences> = {};
  try {
    stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}") as Partial<Preferences>;
  } catch {
    // Storage is forbidden or has invalid content: use the defaults.
  }
  return {
    theme: stored.theme === "light" || stored.theme === "dark" ? stored.theme : "system",
    density: stored.density === "compact" ? "compact" : "comfortable",
    singleKeys: stored.singleKeys !== false,
    language:
      stored.language && Object.hasOwn(LANGUAGES, stored.language)
        ? stored.language
        : languageOf(navigator.languages),
    timeZone: typeof stored.timeZone === "string" ? stored.timeZone : null,
    nextStepHidden: stored.nextStepHidden === true,
    reviewHiddenUntil: Number.isFinite(stored.reviewHiddenUntil)
      ? Number(stored.reviewHiddenUntil)
      : 0,
  };
}

export function preferences(): Preferences {
  return current;
}

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(current));
  } catch {
    // Storage is forbidden: the choice lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences);
}
