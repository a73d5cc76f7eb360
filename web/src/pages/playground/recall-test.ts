/** An answer that was right, as a test that it stays right: a file that `lukasa eval run` reads. Pure. */
import type { ContextView, SearchAnswer } from "lukasa-client";
import { outcomesOf } from "./ask.ts";
import type { Setting } from "./search.ts";

export const FILE = "recall.toml";

/** A memory that the message has to find. */
export interface Wanted {
  id: string;
  content: string;
}

/**
 * What is known of the message and stands in the prompt, the best first: what the search found, then
 * whatever else came in for this message alone. The lines of a prompt are not the memories' own words,
 * so those are looked up.
 */
export function wanted(
  context: ContextView,
  found: SearchAnswer,
  wordsOf: (id: string) => string | undefined,
): Wanted[] {
  const outcomes = outcomesOf(context);
  const all = new Map<string, string>();
  for (const { memory } of found.memories) {
    const kind = outcomes.get(memory.id)?.kind;
    if (kind === "in" || kind === "baseline") all.set(memory.id, memory.content);
  }
  for (const { memory_id, also_memory_ids } of context.dynamic.citations) {
    for (const id of [memory_id, ...(also_memory_ids ?? [])]) {
      const content = id && !all.has(id) ? wordsOf(id) : undefined;
      if (id && content) all.set(id, content);
    }
  }
  return [...all].map(([id, content]) => ({ id, content }));
}

/** What a test is not asked with, though the answer was. */
export function unsaid(setting: Setting): boolean {
  return Boolean(setting.session || setting.window);
}

/** The whole file, with its one case. */
export function recallTest(
  user: string,
  query: string,
  setting: Setting,
  find: readonly string[],
): string {
  const { domains, budget, precise, as_of, known_at } = setting;
  const said: [string, string | undefined][] = [
    ["user", basic(user)],
    ["query", basic(query)],
    ["domains", domains && list(domains)],
    ["budget", typeof budget === "string" ? basic(budget) : budget?.toString()],
    ["precise", precise?.toString()],
    ["as_of", as_of && basic(as_of)],
    ["known_at", known_at && basic(known_at)],
    ["find", list(find)],
  ];
  const lines = said.flatMap(([key, value]) => (value === undefined ? [] : [`${key} = ${value}`]));
  return [
    `# What recall must find. Run it with: lukasa eval run ${FILE}`,
    "[[case]]",
    ...lines,
    "",
  ].join("\n");
}

function list(all: readonly string[]): string {
  const [first] = all;
  if (first === undefined) return "[]";
  if (all.length === 1) return `[${basic(first)}]`;
  return `[\n${all.map((one) => `  ${basic(one)},\n`).join("")}]`;
}

/** What prints nothing or turns the reading direction: in a file that people review it has to be seen. */
const UNSEEN =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A TOML basic string, of which a JSON string is one; but TOML knows no half of a surrogate pair. */
function basic(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    UNSEEN,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
