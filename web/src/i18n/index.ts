/**
 * Translations of the console. `t("memory.title")` returns the text in the user's language; an unknown key
 * does not compile. The English of the shell and of everyday pages is in the first load; other pages add theirs
 * when they are opened, and other languages are loaded when chosen. The text of a memory is never translated.
 */
import type { Catalogues, Key, Translation } from "./catalogues.ts";
import { first } from "./en/first.ts";
import { type Part, pseudo, read, type Values, write } from "./icu.ts";

/** The available languages, in their own names. The last one is for tests and right to left. */
export const LANGUAGES = { en: "English", de: "Deutsch", "xx-RTL": "Pseudo (RTL)" } as const;
export type Language = keyof typeof LANGUAGES;

/** The English messages that are loaded. */
const en: Partial<Catalogues> = { ...first };
let language: Language = "en";
let translation: Partial<Translation> = en;
let ready = new Map<string, Part[]>();

/** Sets the language of `t`. The page has to be rendered again afterwards. */
export async function speak(wanted: Language): Promise<void> {
  translation = wanted === "de" ? (await import("./de/index.ts")).de : en;
  language = wanted;
  ready = new Map();
  document.documentElement.lang = wanted === "xx-RTL" ? "en" : wanted;
  document.documentElement.dir = wanted === "xx-RTL" ? "rtl" : "ltr";
}

/** Adds the English messages of a page that is not in the first load; called when its code is loaded. */
export function addMessages(messages: Partial<Catalogues>): void {
  Object.assign(en, messages);
}

/** The locale for `Intl`: the browser's own variant of the language, such as British English for dates. */
export function locale(): string {
  return localeOf(language === "xx-RTL" ? "en" : language, navigator.languages);
}

export function localeOf(spoken: string, wanted: readonly string[]): string {
  return wanted.find((tag) => tag.toLowerCase().split("-")[0] === spoken) ?? spoken;
}

/** The first of the browser's languages that is available. */
export function languageOf(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = (["en", "de"] as const).find((known) => tag.toLowerCase().startsWith(known));
    if (found) return found;
  }
  return "en";
}

/** Whether the language is not that of the server's texts. */
export function isTranslated(): boolean {
  return translation !== en;
}

/** The text of a message. */
export function t(key: Key, values: Values = {}): string {
  let parts = ready.get(key);
  if (!parts) {
    parts = read(messageOf(key));
    if (language === "xx-RTL") {
      parts = [{ kind: "text", text: "⟦" }, ...pseudo(parts), { kind: "text", text: "⟧" }];
    }
    ready.set(key, parts);
  }
  return write(parts, values, locale());
}

/** Whether a key exists; for names from the server, which may be newer than this console. */
export function known(key: string): key is Key {
  const [page, name] = split(key);
  return Object.hasOwn(en[page as keyof Catalogues] ?? {}, name);
}

/** The translation of a name from the server, or the name itself in a readable form. */
export function nameText(key: string, name: string): string {
  return known(key) ? t(key) : name.replaceAll(/[_-]+/g, " ");
}

function messageOf(key: Key): string {
  const [page, name] = split(key);
  const words = (catalogues: object) =>
    (catalogues as Record<string, Record<string, string | undefined>>)[page]?.[name];
  return words(translation) ?? words(en) ?? key;
}

function split(key: string): [string, string] {
  const dot = key.indexOf(".");
  return [key.slice(0, dot), key.slice(dot + 1)];
}
