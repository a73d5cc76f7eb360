import { jsonSchema, type Tool, tool } from "ai";
import {
  type CreateMemory,
  type FoundEpisode,
  Lukasa,
  LukasaError,
  type MemoryEvent,
  type MemoryView,
  type Settings,
  type WriteResult,
} from "lukasa-client";
import { projectOf } from "./project.ts";

export interface LukasaToolOptions extends Settings {
  /** An existing client, instead of `url` and `key`. */
  client?: Lukasa;
  /** Your own id for the chat, stored with the memories saved in it. */
  session?: string;
  /**
   * The project that the chat is about. The tools see what belongs to it and to no project; that of the client,
   * or no project, if absent.
   */
  project?: string;
}

/** The result of a write: a text for the model, and for the UI the memory and the event to undo it. */
export interface MemoryWrite {
  message: string;
  memory?: MemoryView | null;
  event?: MemoryEvent;
  /** The error code, if nothing was written. */
  error?: string;
}

/** The result of a read: a text for the model, and for the UI the memories, and the episodes of a recall. */
export interface MemoryList {
  message: string;
  memories: MemoryView[];
  /** Summaries of earlier conversations, at most five. */
  episodes?: FoundEpisode[];
  next_cursor?: string | null;
  error?: string;
}

interface New {
  content: string;
  detail?: string;
  category?: "profile" | "context" | "style" | "fact";
  domain?: string;
  project?: string;
  valid_until?: string;
  rule?: { key?: string; value?: unknown };
}
interface Proposed extends Omit<New, "project" | "rule" | "valid_until"> {
  reasoning?: string;
}
interface Update {
  id: string;
  content: string;
  detail?: string;
  mode?: "change" | "correction";
}
interface Link {
  from_id: string;
  to_id: string;
  relation?: string;
}
interface Wanted {
  category?: New["category"];
  domain?: string;
  search?: string;
  limit?: number;
  cursor?: string;
}
interface Said {
  id: string;
  quotation?: string;
}
interface Question {
  query: string;
  limit?: number;
}

/** The tools by name, for models and for types. */
export type LukasaTools = {
  save_memory: Tool<New, MemoryWrite>;
  update_memory: Tool<Update, MemoryWrite>;
  forget_memory: Tool<{ id: string }, MemoryWrite>;
  confirm_memory: Tool<Said, MemoryWrite>;
  link_memories: Tool<Link, MemoryWrite>;
  list_memories: Tool<Wanted, MemoryList>;
  recall_memories: Tool<Question, MemoryList>;
  propose_memory: Tool<Proposed, MemoryWrite>;
};

const text = (description?: string) => ({
  type: "string" as const,
  ...(description && { description }),
});
/** Maximum number of episodes in the answer to a recall, as over MCP. */
const MAX_EPISODES = 5;
/** Maximum length of an episode's summary in a message, in characters. */
const SUMMARY_CHARS = 400;
const number = { type: "integer" as const };
const category = { type: "string" as const, enum: ["profile", "context", "style", "fact"] };
const id = text("Its id, or words only it contains");

function takes<T>(properties: Record<string, object>, ...required: string[]) {
  return jsonSchema<T>({ type: "object", properties, required, additionalProperties: false });
}

/**
 * Tools with which a model reads and writes the memory of one user. The user is set here, never by the
 * model. What only the user may do, such as confirming a proposal, is not possible with them.
 *
 * ```ts
 * await generateText({ model, tools: lukasaTools({ user: "alice" }), prompt });
 * ```
 */
export function lukasaTools(options: LukasaToolOptions = {}): LukasaTools {
  const lukasa = options.client ?? new Lukasa(options);
  const { user, session: session_id } = options;
  const project = projectOf(lukasa, options);
  const callOptions = (signal: AbortSignal | undefined) => ({ user, project, signal });

  return {
    save_memory: tool({
      description:
        "Remember something lasting that the user said or asked you to keep. First look with " +
        "list_memories or recall_memories: if it is known in other words, call update_memory " +
        "instead of saving it twice. No secrets. What you only infer: propose_memory.",
      inputSchema: takes<New>(
        {
          content: text("One short line, e.g. Prefers window seats"),
          detail: text("Anything longer; only recall shows it"),
          category,
          domain: text("e.g. travel, health"),
          project: text(),
          valid_until: text("Date, if it ends"),
          rule: { type: "object", description: "{key, value} of a rule the user set" },
        },
        "content",
      ),
      execute: (memory: New, { abortSignal }: Called): Promise<MemoryWrite> =>
        written(
          lukasa.memories.save(
            { ...newMemory(memory), session_id },
            { ...callOptions(abortSignal), similar: true },
          ),
        ),
      toModelOutput,
    }),

    update_memory: tool({
      description:
        "Put new words in place of a memory's, rather than saving a near-duplicate. mode change " +
        "(default): things are different now. correction: it was never so. The past is kept.",
      inputSchema: takes<Update>(
        {
          id,
          content: text(),
          detail: text(),
          mode: { type: "string", enum: ["change", "correction"] },
        },
        "id",
        "content",
      ),
      execute: ({ id, ...changes }: Update, { abortSignal }: Called): Promise<MemoryWrite> =>
        written(lukasa.memories.update(id, { ...changes, session_id }, callOptions(abortSignal))),
      toModelOutput,
    }),

    forget_memory: tool({
      description:
        "Stop using a memory, because the user asks for it or it has ended. It can be restored.",
      inputSchema: takes<{ id: string }>({ id }, "id"),
      execute: ({ id }: { id: string }, { abortSignal }: Called): Promise<MemoryWrite> =>
        written(lukasa.memories.forget(id, callOptions(abortSignal))),
      toModelOutput,
    }),

    confirm_memory: tool({
      description:
        "Note that the user has said again that a memory holds, so that it does not fade. " +
        "A rule or a proposal only the user can confirm.",
      inputSchema: takes<Said>({ id, quotation: text("The user's own words") }, "id"),
      execute: ({ id, quotation }: Said, { abortSignal }: Called): Promise<MemoryWrite> => {
        const quotations = quotation ? [quotation] : undefined;
        return written(
          lukasa.memories.confirm(id, { quotations, session_id }, callOptions(abortSignal)),
        );
      },
      toModelOutput,
    }),

    link_memories: tool({
      description: "Note that two memories belong together.",
      inputSchema: takes<Link>(
        {
          from_id: text(),
          to_id: text(),
          relation: text("relates_to (default), supersedes, contradicts or your own"),
        },
        "from_id",
        "to_id",
      ),
      execute: (
        { from_id, to_id, relation }: Link,
        { abortSignal }: Called,
      ): Promise<MemoryWrite> =>
        written(lukasa.memories.link(from_id, { to: to_id, relation }, callOptions(abortSignal))),
      toModelOutput,
    }),

    list_memories: tool({
      description: "What is known about the user now, newest first. Look here before you save.",
      inputSchema: takes<Wanted>({
        category,
        domain: text(),
        search: text("Words they contain"),
        limit: number,
        cursor: text(),
      }),
      execute: (wanted: Wanted, { abortSignal }: Called): Promise<MemoryList> =>
        found(async () => {
          const page = await lukasa.memories.list(wanted, callOptions(abortSignal)).page();
          return { memories: page.data, next_cursor: page.next_cursor };
        }),
      toModelOutput,
    }),

    recall_memories: tool({
      description:
        "Find what concerns a question, also faint memories and long details. Call it when " +
        "the answer may depend on what the user said before, and before you save.",
      inputSchema: takes<Question>({ query: text(), limit: number }, "query"),
      execute: (ask: Question, { abortSignal }: Called): Promise<MemoryList> =>
        found(async () => {
          const query = { ...ask, episodes: MAX_EPISODES };
          const { memories, episodes } = await lukasa.memories.recall(
            query,
            callOptions(abortSignal),
          );
          return { memories: memories.map(({ memory }) => memory), episodes };
        }),
      toModelOutput,
    }),

    propose_memory: tool({
      description:
        "Suggest what you inferred or what is delicate. It is used only after the user's yes.",
      inputSchema: takes<Proposed>(
        {
          content: text(),
          detail: text(),
          category,
          domain: text(),
          reasoning: text("Why you think so"),
        },
        "content",
      ),
      execute: (memory: Proposed, { abortSignal }: Called): Promise<MemoryWrite> =>
        written(lukasa.memories.propose({ ...memory, session_id }, callOptions(abortSignal))),
      toModelOutput,
    }),
  };
}

/**
 * The writes of a message of `useChat`, to show under it ("Memory saved · Undo"): each is undone with
 * `client.operations.undo(event)`.
 */
export function memoryEvents(message: { parts: readonly object[] }): MemoryEvent[] {
  const events = message.parts.map((part) => (part as { output?: MemoryWrite }).output?.event);
  return events.filter(
    (event) => event?.operation_id && event.type?.startsWith("memory."),
  ) as MemoryEvent[];
}

interface Called {
  abortSignal?: AbortSignal;
}

/** The model gets the message only; the rest is for the UI. */
function toModelOutput({ output }: { output: { message: string } }) {
  return { type: "text" as const, value: output.message };
}

/** The memory to save. A rule is a hard memory with a key and a value. */
function newMemory({ rule, ...memory }: New): CreateMemory {
  const { key, value } = rule ?? {};
  if (!key) return memory;
  return { ...memory, force: "hard", key, ...(value != null && value !== "" && { value }) };
}

/** One memory in one line: the server's, which is safe in a prompt, with the id. */
function line({ id, line, status }: MemoryView): string {
  return `${id}: ${line}${status === "active" ? "" : ` [${status}]`}`;
}

/** A text in one line. It may come from an attacker, so it cannot start a line of its own. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .replaceAll("<", "‹")
    .replaceAll(">", "›");
}

/** The end of an answer to a recall: the detail of each memory, and the episodes. */
function detailed({ memories, episodes }: Omit<MemoryList, "message">): string[] {
  const lines = memories.flatMap((memory) =>
    memory.detail ? [line(memory), `  ${oneLine(memory.detail)}`] : [line(memory)],
  );
  if (!episodes?.length) return lines;
  lines.push("Summaries of earlier conversations:");
  for (const { episode } of episodes) {
    const summary = [...oneLine(episode.summary)];
    const end = summary.length > SUMMARY_CHARS ? "…" : "";
    const shown = summary.slice(0, SUMMARY_CHARS).join("");
    lines.push(`- ${episode.ended_at.slice(0, 10)}: ${shown}${end}`);
  }
  return lines;
}

async function written(write: Promise<WriteResult>): Promise<MemoryWrite> {
  try {
    const { message, memory, event, similar } = await write;
    const lines = memory ? [`${message} (${memory.id})`] : [message];
    if (similar && similar.length > 0) {
      lines.push("It may repeat one of these; if so, update that one and forget this one:");
      lines.push(...similar.map(({ memory }) => line(memory)));
    }
    return { message: lines.join("\n"), memory, event };
  } catch (error) {
    return refused(error);
  }
}

async function found(read: () => Promise<Omit<MemoryList, "message">>): Promise<MemoryList> {
  try {
    const list = await read();
    // Only a recall has episodes, and only a recall shows details.
    const lines = list.episodes ? detailed(list) : list.memories.map(line);
    if (lines.length === 0) lines.push("Nothing was found.");
    if (list.next_cursor) lines.push(`There is more: call again with cursor ${list.next_cursor}`);
    return { message: lines.join("\n"), ...list };
  } catch (error) {
    return { ...refused(error), memories: [] };
  }
}

/** An error as a text with which the model can continue. */
function refused(error: unknown): { message: string; error: string } {
  if (!(error instanceof LukasaError)) throw error;
  const candidates = error.candidates.map(line);
  const words =
    error.status === 0 ? "Memory cannot be reached now; go on without it." : error.message;
  return { message: [words, ...candidates].join("\n"), error: error.code };
}
