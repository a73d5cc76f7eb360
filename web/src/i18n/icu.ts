/**
 * Parses and formats the messages of the catalogues: plain text with `{name}`, `{count, number}`,
 * `{count, plural, one {# memory} other {# memories}}` and `{what, select, a {…} other {…}}`, as ICU
 * writes them. Small enough to need no library; independent of React and of any language.
 */
import { numberFormat, pluralRules } from "./formats.ts";
export type Part =
  | { kind: "text"; text: string }
  | { kind: "count" }
  | { kind: "value"; name: string; number: boolean }
  | { kind: "choice"; name: string; plural: boolean; cases: Record<string, Part[]> };

export type Values = Record<string, string | number>;

/** Parses a message. Throws if it is malformed; the tests parse every catalogue. */
export function read(message: string): Part[] {
  const reader = { message, at: 0 };
  const parts = readParts(reader, false);
  if (reader.at < message.length) throw new Error(`an unexpected } in: ${message}`);
  return parts;
}

interface Reader {
  message: string;
  at: number;
}

function readParts(reader: Reader, counting: boolean): Part[] {
  const parts: Part[] = [];
  let text = "";
  const flush = () => {
    if (text) parts.push({ kind: "text", text });
    text = "";
  };
  while (reader.at < reader.message.length) {
    const char = reader.message[reader.at] ?? "";
    if (char === "}") break;
    if (char === "{") {
      flush();
      parts.push(readArgument(reader));
    } else {
      reader.at += 1;
      if (char === "#" && counting) {
        flush();
        parts.push({ kind: "count" });
      } else text += char;
    }
  }
  flush();
  return parts;
}

function readArgument(reader: Reader): Part {
  const rest = reader.message.slice(reader.at);
  const plain = /^\{\s*(\w+)\s*(,\s*number\s*)?\}/.exec(rest);
  if (plain) {
    reader.at += plain[0].length;
    return { kind: "value", name: plain[1] ?? "", number: plain[2] !== undefined };
  }
  const head = /^\{\s*(\w+)\s*,\s*(plural|select)\s*,\s*/.exec(rest);
  if (!head) throw new Error(`cannot read: ${reader.message}`);
  reader.at += head[0].length;
  const plural = head[2] === "plural";
  const cases: Record<string, Part[]> = {};
  for (;;) {
    const next = /^(=\d+|\w+)\s*\{/.exec(reader.message.slice(reader.at));
    if (!next) break;
    reader.at += next[0].length;
    cases[next[1] ?? ""] = readParts(reader, plural);
    if (reader.message[reader.at] !== "}") throw new Error(`a case has no end: ${reader.message}`);
    reader.at += 1;
    reader.at += /^\s*/.exec(reader.message.slice(reader.at))?.[0].length ?? 0;
  }
  if (reader.message[reader.at] !== "}" || !cases.other) {
    throw new Error(`a choice needs an end and an \`other\`: ${reader.message}`);
  }
  reader.at += 1;
  return { kind: "choice", name: head[1] ?? "", plural, cases };
}

/** Formats a message with its values, by the plural rules of `language`. */
export function write(parts: Part[], values: Values, language: string, count?: number): string {
  let out = "";
  for (const part of parts) {
    if (part.kind === "text") out += part.text;
    else if (part.kind === "count") out += numberFormat(language).format(count ?? 0);
    else if (part.kind === "value") {
      const value = values[part.name];
      out += typeof value === "number" ? numberFormat(language).format(value) : (value ?? "");
    } else {
      const value = values[part.name];
      const number = Number(value);
      const chosen = part.plural
        ? (part.cases[`=${number}`] ?? part.cases[pluralRules(language).select(number)])
        : part.cases[String(value)];
      const inner = chosen ?? part.cases.other ?? [];
      out += write(inner, values, language, part.plural ? number : count);
    }
  }
  return out;
}

const ACCENTS: Record<string, string> = {
  a: "á",
  e: "é",
  i: "í",
  o: "ó",
  u: "ú",
  A: "Á",
  E: "É",
  I: "Í",
  O: "Ó",
  U: "Ú",
  n: "ñ",
  c: "ç",
  y: "ý",
};

/** The message in the pseudo-locale: accented, so that untranslated strings are visible. */
export function pseudo(parts: Part[]): Part[] {
  return parts.map((part): Part => {
    if (part.kind === "text")
      return { kind: "text", text: part.text.replace(/[a-zA-Z]/g, (l) => ACCENTS[l] ?? l) };
    if (part.kind !== "choice") return part;
    const cases = Object.entries(part.cases).map(([name, inner]) => [name, pseudo(inner)] as const);
    return { ...part, cases: Object.fromEntries(cases) };
  });
}
