/** The words of a memory as the console shows them for reading. What is stored does not change. Pure. */
import type { MemoryView } from "lukasa-client";
import { sourceOf } from "./select.ts";

/** Learned memories say "User works nights", among others that begin with a verb. */
const VERB = "is|has|was|had|can|cannot|could|may|might|must|should|will|would|never|do|does|did";
const SUBJECT = new RegExp(`^(?:the )?user (?=(?:\\p{Ll}{2,}(?:s|ed)|${VERB}) )`, "iu");
const SURE = new RegExp(`^(?:${VERB}) `, "u");

/** The clause after the first word, up to the next one. */
const CLAUSE =
  /^\S+ (.*?)(?:[,;:.(]|\b(?:and|but|or|that|because|so|if|when|while|who|which|since|as|than)\b|$)/u;
/** Words that are its verb, unless they follow "to", as in "User wants to have a dog". */
const OTHER_VERB = new RegExp(
  `(?<!\\bto )\\b(?:${VERB}|are|were|have|do|does|did|needs?|shall)\\b`,
  "u",
);

/** Whether the text after "User" begins with a noun, as in "User stories must have acceptance criteria". */
function isNoun(rest: string): boolean {
  return !SURE.test(rest) && OTHER_VERB.test(CLAUSE.exec(rest)?.[1] ?? "");
}

/** The content; of a learned memory without "User" as its subject, such as "Works nights as a nurse." */
export function shownContent(
  memory: Pick<MemoryView, "content" | "origin" | "confidence">,
): string {
  const { content } = memory;
  const rest = content.replace(SUBJECT, "");
  if (rest === content || isNoun(rest) || sourceOf(memory) !== "inferred") return content;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}
