/** Recall tests: a file for `lukasa eval run` with a message and the memories it must find. Pure. */
import type { ContextView, SearchAnswer } from "lukasa-client";
import type { Setting } from "./params.ts";
import { outcomesOf } from "./requests.ts";

export const FILE = "recall.toml";

/** A memory that the message has to find. */
export interface ExpectedMemory {
  id: string;
  content: string;
}

/**
 * The memories in the prompt for this message, the best first: the search results, then the other memories
 * of the dynamic part. Prompt lines differ from the text of the memories, so the text is looked up.
 */
export function expectedMemories(
  context: ContextView,
  found: SearchAnswer,
  wordsOf: (id: string) => string | undefined,
): ExpectedMemory[] {
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

/** Whether the setting has fields that a test file cannot contain. */
export function hasUnsupportedFields(setting: Setting): boolean {
  return Boolean(setting.session || setting.window || setting.anyway);
}

/** The test file with one case. */
export function recallTest(
  user: string,
  query: string,
  setting: Setting,
  find: readonly string[],
): string {
  const { domains, budget, precise, as_of, known_at } = setting;
  const fields: [string, string | undefined][] = [
    ["user", basic(user)],
    ["query", basic(query)],
    ["domains", domains && list(domains)],
    ["budget", typeof budget === "string" ? basic(budget) : budget?.toString()],
    ["precise", precise?.toString()],
    ["as_of", as_of && basic(as_of)],
    ["known_at", known_at && basic(known_at)],
    ["find", list(find)],
  ];
  const lines = fields.flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${value}`],
  );
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

/** Invisible and direction-changing characters, escaped so that they are visible in a review. */
const INVISIBLE =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A TOML basic string. A JSON string is one, except that TOML allows no lone surrogates. */
function basic(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    INVISIBLE,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
