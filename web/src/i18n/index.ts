/**
 * The words of the console. `t("memory.title")` gives them in the person's language; a key that is in no
 * catalogue does not compile. English is in the first load, other languages come when they are chosen.
 * What a memory says is never translated.
 */
import { en } from "./en/index.ts";
import { type Part, pseudo, read, type Values, write } from "./icu.ts";

export type Catalogues = typeof en;
/** Every key there is: the page, a dot, the name. */
export type Key = {
  [Page in keyof Catalogues & string]: `${Page}.${keyof Catalogues[Page] & string}`;
}[keyof Catalogues & string];
/** A translation may lack words; English then stands in, and a test lists what is missing. */
export type Translation = {
  [Page in keyof Catalogues]: Partial<Record<keyof Catalogues[Page], string>>;
};

/** The languages there are, in their own names. The last is for tests and runs from right to left. */
export const LANGUAGES = { en: "English", de: "Deutsch", "xx-RTL": "Pseudo (RTL)" } as const;
export type Language = keyof typeof LANGUAGES;

let language: Language = "en";
let translation: Translation = en;
let ready = new Map<string, Part[]>();

/** Makes `wanted` the language that `t` speaks. The page has to be drawn anew after it. */
export async function speak(wanted: Language): Promise<void> {
  translation = wanted === "de" ? (await import("./de/index.ts")).de : en;
  language = wanted;
  ready = new Map();
  document.documentElement.lang = locale();
  document.documentElement.dir = wanted === "xx-RTL" ? "rtl" : "ltr";
}

/** What `Intl` is to be asked for. */
export function locale(): string {
  return language === "xx-RTL" ? "en" : language;
}

/** The languages of the browser, as far as we speak them. */
export function languageOf(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = (["en", "de"] as const).find((known) => tag.toLowerCase().startsWith(known));
    if (found) return found;
  }
  return "en";
}

/** The words for a key. */
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

/** Whether there are words for something the server named, such as a verb it has learned since. */
export function known(key: string): key is Key {
  const [page, name] = split(key);
  return Object.hasOwn(en, page) && Object.hasOwn(en[page as keyof Catalogues], name);
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
