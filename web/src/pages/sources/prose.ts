/** Portraits as prose: paragraphs of sentences in one voice, each said once. Pure. */
import type { PortraitView, SentenceView } from "lukasa-client";
import { secondPerson } from "./voice.ts";

/** A sentence, with the memories that it cites. */
export interface ProseSentence {
  text: string;
  memories: readonly string[];
}

/** A paragraph is stated by the user as a whole, or likely as a whole. */
export interface Paragraph {
  likely: boolean;
  sentences: readonly ProseSentence[];
}

/** The lead of a sentence that the user said outright. */
const STATED = "You told me";
/** `made_by` of a portrait that was written without a model. */
export const TEMPLATE = "template";
/** A paragraph ends with its topic from this number of sentences on, and with any topic at the other. */
const MIN_SENTENCES = 2;
const MAX_SENTENCES = 5;

/** The topic of a memory: its area. Without one, the heading of the portrait is used. */
type TopicOf = (memory: string) => string | undefined;
/** Who the user is comes first. */
const FIRST_TOPIC = "personal";
const NAME = /^(Your name|You are called|Du heißt|Dein Name)/;

type Portrait = Pick<PortraitView, "name" | "made_by" | "sentences">;

/**
 * The paragraphs of each portrait. What an earlier portrait says is not repeated in a later one: the same memory
 * belongs to who the user is, and to an area of their life.
 */
export function proseOf(
  portraits: readonly Portrait[],
  topicOf: TopicOf = () => undefined,
): Map<string, Paragraph[]> {
  const told = new Set<string>();
  const prose = new Map<string, Paragraph[]>();
  for (const portrait of portraits) {
    const said = distinct(sentencesOf(portrait, topicOf)).filter(
      ({ memories }) => !memories.every((id) => told.has(id)),
    );
    for (const { memories } of said) for (const id of memories) told.add(id);
    prose.set(portrait.name, paragraphsOf(said));
  }
  return prose;
}

interface Said {
  text: string;
  memories: string[];
  likely: boolean;
  topic: string;
}

function sentencesOf({ sentences, made_by }: Portrait, topicOf: TopicOf): Said[] {
  return sentences.flatMap((sentence) =>
    partsOf(sentence, made_by === TEMPLATE).map((part) => ({
      text: ended(secondPerson(part.text)),
      memories: [...part.memories],
      likely: sentence.lead !== STATED,
      topic: topicOf(part.memories[0] ?? "") ?? sentence.section,
    })),
  );
}

/**
 * The parts of a sentence. One of the template lists what several memories say, in their order: "Lives in Lyon;
 * has two cats." A model may order or combine what it cites, so its sentence stays whole and cites all its memories.
 */
export function partsOf(
  { text, memory_ids }: Pick<SentenceView, "text" | "memory_ids">,
  byTemplate: boolean,
): ProseSentence[] {
  const parts = text.split("; ");
  if (!byTemplate || parts.length !== memory_ids.length) return [{ text, memories: memory_ids }];
  return parts.map((part, at) => ({ text: part, memories: memory_ids.slice(at, at + 1) }));
}

function ended(text: string): string {
  return /[.!?…。！？]$/.test(text) ? text : `${text}.`;
}

const NEGATIONS = /^(no|not|never|none|without|nicht|nie|niemals|kein\p{L}*|ohne|\p{L}+n[’']t)$/u;
/** Words that say nothing of their own. */
const SMALL = new Set(
  (
    "you your are were a an the in on at of to and is with for as du dein deine deinen bist hast ein eine der die " +
    "das in im am und mit als"
  ).split(" "),
);

/** What a sentence says, as words without their endings. */
function contentOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}’'-]+/gu) ?? [];
  return new Set(
    words.filter((word) => !SMALL.has(word)).map((word) => word.replace(/(?<=\p{L}{3})s$/u, "")),
  );
}

/**
 * A sentence whose words are all in another one is left out, and the other cites its memories as well. What is
 * likely takes nothing from what the user said, and a negation is never left out.
 */
function distinct(all: readonly Said[]): Said[] {
  const rows = all.map((said) => ({ said, words: contentOf(said.text) }));
  const gone = new Set<Said>();
  for (const [at, { said, words }] of rows.entries()) {
    if (words.size === 0 || [...words].some((word) => NEGATIONS.test(word))) continue;
    const other = rows.find(
      (one, place) =>
        place !== at &&
        !gone.has(one.said) &&
        (said.likely || !one.said.likely) &&
        (one.words.size > words.size || (one.words.size === words.size && place < at)) &&
        words.size >= Math.min(2, one.words.size) &&
        ![...one.words].some((word) => NEGATIONS.test(word)) &&
        [...words].every((word) => one.words.has(word)),
    );
    if (!other) continue;
    gone.add(said);
    for (const id of said.memories)
      if (!other.said.memories.includes(id)) other.said.memories.push(id);
  }
  return all.filter((said) => !gone.has(said));
}

/** By topic, with short topics together; what is likely has paragraphs of its own, at the end. */
function paragraphsOf(all: readonly Said[]): Paragraph[] {
  return [false, true].flatMap((likely) => {
    const paragraphs: Said[][] = [];
    for (const said of byTopic(all.filter((one) => one.likely === likely))) {
      const last = paragraphs.at(-1);
      const topicEnds = last && last.at(-1)?.topic !== said.topic;
      if (!last || last.length >= (topicEnds ? MIN_SENTENCES : MAX_SENTENCES))
        paragraphs.push([said]);
      else last.push(said);
    }
    return paragraphs.map((sentences) => ({
      likely,
      sentences: sentences.map(({ text, memories }) => ({ text, memories })),
    }));
  });
}

/** Topics in the order of their first sentence, the user's name and person first. */
function byTopic(all: readonly Said[]): Said[] {
  const topics = new Map<string, Said[]>();
  for (const said of all) topics.set(said.topic, [...(topics.get(said.topic) ?? []), said]);
  const first = topics.get(FIRST_TOPIC) ?? [];
  topics.delete(FIRST_TOPIC);
  const ordered = [...first, ...[...topics.values()].flat()];
  return [
    ...ordered.filter((said) => NAME.test(said.text)),
    ...ordered.filter((said) => !NAME.test(said.text)),
  ];
}
