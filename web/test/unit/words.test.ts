/**
 * The words of the console in every language: each message is translated, and none uses a word that readers
 * have to decode: plain words, and one word for one idea.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { de } from "../../src/i18n/de/index.ts";
import { en } from "../../src/i18n/en/index.ts";

type Book = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>;

const BOOKS: Readonly<Record<string, Book>> = { en, de };

/** Banned in every language: metaphors in place of the usual word. */
const EVERYWHERE = [/\bbeliefs?\b/i, /\bcouriers?\b/i];

/** Words that are banned in one language, each with what to say instead. */
const BANNED: Readonly<Record<string, readonly RegExp[]>> = {
  en: [
    /\b(?:whoever|nobody|somebody|anybody|everybody)\b/i, // user, app, or who it is
    /\banew\b/i, // again
    /\bmend(?:s|ed|ing)?\b/i, // fix
    /\bat hand\b/i, // available
    /\bbears? on\b/i, // is relevant to
    /\b(?:told|tells)\b/i, // said, saved
    /\b(?:shut|opened? areas?)\b/i, // off, on
    /\bstands?\b|\bstanding\b/i, // is current, is saved
    /\blately\b/i, // recently
    /\bfortnight\b/i, // two weeks
    /\brests? on\b/i, // is based on
    /\bfound no room\b/i, // not shown
    /\bgiven up\b/i, // failed
    /\bdomains?\b/i, // area
    /\btiers?\b|\btentative\b|\bstrong\b/i, // certainty: certain, likely, guess
    /\bproposals?\b|\bproposed?\b/i, // suggestion
    /\bportraits?\b|\bepisodes?\b/i, // profile, summary
    /\bturns?\b(?! (?:on|off|it|them)\b)(?<!\b(?:to|not|may) turns?)/i, // message
    /!(?!=)/, // no exclamation marks
  ],
  de: [
    /\bverschlossen\w*/i, // aus
    /\bDurchsicht\b/i, // Prüfen
    /\bWerkbank\b/i, // Testbereich
    /\bEinbetter\b/i, // Embedding-Modell
    /\b(?:niemand|jemand|irgendwer)\b/i,
    /\bauslösch\w*|\bausgelöscht\w*/i, // endgültig löschen
    /\bQuittung\w*/i, // Löschnachweis
    /\bDrehbuch\b|\bLeitfaden\b/i, // Helfer
    /\bPorträts?\b|\bEpisoden?\b/i, // Profil, Zusammenfassung
    /\bBeitr(?:ag|äge)\b|\bÄußerung\w*/i, // Nachricht
    /\bDomänen?\b/i, // Bereich
    /!(?!=)/,
  ],
};

/** Phrases in which a banned word is the right one. */
const ALLOWED = [
  /\bturn(?:s|ed)? (?:\{\w+\} )?(?:on|off|them on|it on|this on|the area off)\b/gi,
  /\bturning it on\b/gi,
];

/** Messages with a banned word, as text. */
function bannedWords(language: string, book: Book): string[] {
  const patterns = [...EVERYWHERE, ...(BANNED[language] ?? [])];
  return Object.entries(book).flatMap(([page, messages]) =>
    Object.entries(messages).flatMap(([name, message = ""]) => {
      const text = ALLOWED.reduce((left, phrase) => left.replace(phrase, ""), message)
        // Names of values and keywords of the format are not shown.
        .replace(/\{\w+(?:, (?:plural|select|number))?,?/g, " ");
      return patterns
        .filter((pattern) => pattern.test(text))
        .map((pattern) => `${language} ${page}.${name}: ${pattern} in "${message}"`);
    }),
  );
}

/** Keys that a language lacks, and keys that it has without need. */
function untranslated(book: Book): string[] {
  const keys = (of: Book) =>
    new Set(
      Object.entries(of).flatMap(([page, messages]) =>
        Object.keys(messages).map((name) => `${page}.${name}`),
      ),
    );
  const [wanted, there] = [keys(en), keys(book)];
  return [
    ...[...wanted].filter((key) => !there.has(key)).map((key) => `missing: ${key}`),
    ...[...there].filter((key) => !wanted.has(key)).map((key) => `unknown: ${key}`),
  ];
}

/** German messages that are English: the same text, although it has words that are spelled differently. */
function copiedFromEnglish(book: Book): string[] {
  return Object.entries(en as Book).flatMap(([page, messages]) =>
    Object.entries(messages)
      .filter(([name, message]) => book[page]?.[name] === message)
      .filter(([, message = ""]) =>
        /\b(?:the|is|are|of|and|with|you|your|this|not)\b/i.test(message.replace(/\{\w+\}/g, "")),
      )
      .map(([name]) => `${page}.${name}`),
  );
}

for (const [language, book] of Object.entries(BOOKS)) {
  test(`no banned words: ${language}`, () => {
    assert.deepEqual(bannedWords(language, book), []);
  });

  test(`every message is translated: ${language}`, () => {
    assert.deepEqual(untranslated(book), []);
  });
}

test("German messages are not English", () => {
  assert.deepEqual(copiedFromEnglish(de as Book), []);
});

test("planted faults are found", () => {
  const plant = (book: Book, message: string | undefined): Book => {
    const { copy: _, ...shell } = book.shell ?? {};
    return { ...book, shell: message === undefined ? shell : { ...shell, copy: message } };
  };
  for (const fault of [
    "Ask nobody",
    "This area is shut",
    "2 turns of a chat",
    "A courier",
    "Done!",
  ]) {
    assert.equal(bannedWords("en", plant(en, fault)).length, 1, fault);
  }
  for (const fault of ["Alles auslöschen", "Der Bereich ist verschlossen", "Der Courier"]) {
    assert.equal(bannedWords("de", plant(de as Book, fault)).length, 1, fault);
  }
  assert.deepEqual(untranslated(plant(de as Book, undefined)), ["missing: shell.copy"]);
  assert.deepEqual(copiedFromEnglish(plant(de as Book, "Copy")), []);
  const english = plant(de as Book, en.shell.skip);
  assert.deepEqual(copiedFromEnglish({ ...english, shell: { skip: en.shell.skip } }), [
    "shell.skip",
  ]);
});
