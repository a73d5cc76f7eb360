/**
 * Splits pasted text into facts, one per line: a plain list, or the memory page of another assistant. Pure.
 */

/** Longer lines are split into their sentences. */
const MAX_LINE = 120;
/** A fact is one short line; the server refuses longer ones. */
const MAX_FACT = 500;
const MAX_FACTS = 500;

/** A bullet, a number, a check box, or the date with which ChatGPT starts a line. */
const LEADS = [
  /^[-*•·–—▪◦‣]\s+/u,
  /^\(?\d{1,3}[.)]\s+/,
  /^\[[ xX]\]\s+/,
  /^\[?\d{4}-\d{2}-\d{2}\]?\s*[-–—:.]?\s+/,
];

/** The facts of a pasted text, without duplicates, in their order. */
export function factsOf(text: string): string[] {
  const seen = new Set<string>();
  const facts: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    for (const part of partsOf(plainLine(line))) {
      const fact = part.trim();
      const same = fact.toLocaleLowerCase().replace(/[.\s]+$/, "");
      if (!/\p{L}/u.test(fact) || seen.has(same)) continue;
      seen.add(same);
      facts.push(fact.slice(0, MAX_FACT));
      if (facts.length === MAX_FACTS) return facts;
    }
  }
  return facts;
}

/** A line without list marks and emphasis; empty for headings, rules and fences. */
function plainLine(line: string): string {
  let rest = line.trim();
  if (/^(?:#{1,6}\s|```|~~~|[-*_=]{3,}$|\|)/.test(rest)) return "";
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const lead of LEADS) rest = rest.replace(lead, "");
  }
  // A line that is a heading: all bold, or a few words and a colon at the end.
  if (/^\*\*[^*]+\*\*:?$/.test(rest) || /^[^.:!?]{1,40}:$/.test(rest)) return "";
  return rest
    .replace(/(\*\*|__)(.+?)\1/g, "$2")
    .replace(/^["“„](.+)["”“]$/, "$1")
    .trim();
}

function partsOf(line: string): string[] {
  if (line.length <= MAX_LINE) return [line];
  const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(line);
  return Array.from(sentences, ({ segment }) => segment);
}
