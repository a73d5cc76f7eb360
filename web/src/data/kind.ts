/** What a text is, by its words: a rule, a preference or a fact. The same text gives the same answer. Pure. */

import type { CreateMemory } from "lukasa-client";

export const NEW_KINDS = ["fact", "preference", "rule"] as const;
export type NewKind = (typeof NEW_KINDS)[number];

/** Orders, and what must not happen. What was or was not done so far is not an order: "has never been to Rome". */
const RULE = [
  /(?<!\b(?:have|has|had|'ve|'s|i|we|she|he|they)\s)\b(?:never|always)\b/i,
  /\bi\s+(?:never|must|can(?:'t|not))\s+(?:eat|drink|have|take|be)\b/i,
  /\bmust(?:\s+not|n't)?\b/i,
  /^(?:please\s+)?(?:don't|do not|avoid|no)\s/i,
  /\ballerg(?:ic|y|ies)\b|\bintoleran(?:t|ce)\b/i,
  /(?<!\b(?:habe?|hat|hatte|war|bin|ich|wir|er)\s(?:\w+\s)?)\b(?:niemals|nie|immer)\b/i,
  /\bich\s+(?:darf|esse|trinke|vertrage)\s+(?:nie|niemals|kein|keine|keinen|nicht)\b/i,
  /\bauf keinen fall\b|\bmuss\b|\bd(?:arf|ürfen)\s+nicht\b/i,
  /\ballerg(?:isch|ie|ien)\b|\bunverträglich(?:keit)?\b/i,
];

const PREFERENCE = [
  /\bprefer(?:s|red|ence)?\b|\brather\b|\bfavou?rite\b/i,
  /\b(?:like|likes|love|loves|enjoy|enjoys|hate|hates|dislike|dislikes)\b/i,
  /\bcan't stand\b/i,
  /^(?:please\s+)?(?:answer|reply|respond|write|keep|use|be)\s/i,
  /\bbevorzug\w*|\bliebe[rn]?\b|\bliebling\w*|\bgerne?\b|\bungern\b/i,
  /\b(?:mag|mögen|hasse|hasst)\b/i,
  /^(?:bitte\s+)?(?:antworte|schreib|schreibe|nutze|verwende|halte)\s/i,
];

/** What a new memory is; a fact if nothing in it says otherwise. */
export function kindOf(text: string): NewKind {
  const plain = text.trim().replaceAll("’", "'");
  if (RULE.some((pattern) => pattern.test(plain))) return "rule";
  return PREFERENCE.some((pattern) => pattern.test(plain)) ? "preference" : "fact";
}

const MAX_KEY_WORDS = 6;
const MAX_KEY_LENGTH = 64;
/** Words that say nothing about what a rule is about. */
const STOP_WORDS = new Set(
  "a an and any as at be by do for i in is it me my of on or that the their to with you your".split(
    " ",
  ),
);

/** A key for a rule, from its words: applications look a rule up by its key, and users do not write one. */
export function ruleKey(text: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/[\p{M}'’]/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  const all = words ?? [];
  const telling = all.filter((word) => !STOP_WORDS.has(word));
  const key = (telling.length > 0 ? telling : all).slice(0, MAX_KEY_WORDS).join("-");
  return key.slice(0, MAX_KEY_LENGTH) || "rule";
}

/** The kind that the words suggest. A rule is suggested only if its area is known: without one it cannot be saved. */
export function suggestedKind(text: string, hasArea: boolean): NewKind {
  const kind = kindOf(text);
  return kind === "rule" && !hasArea ? "preference" : kind;
}

/** The fields that say what a memory is. A rule gets its key from its words. */
export function fieldsOf(kind: NewKind, text: string): Partial<CreateMemory> {
  if (kind === "rule") return { kind: "preference", force: "hard", key: ruleKey(text) };
  return kind === "preference" ? { kind } : {};
}
