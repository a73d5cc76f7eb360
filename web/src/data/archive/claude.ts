/** Claude's export: conversations, and Claude's own memories. The same rules as `lukasa import claude`. */
import { digestOf, isObject, listOf, textOf, timeOf } from "./fields.ts";
import type { ChatItem, ChatTurn, MemoryItem } from "./items.ts";

/** A conversation of the export, or `undefined` for anything else. */
export async function claudeChat(value: unknown): Promise<ChatItem | undefined> {
  if (!isObject(value) || !Array.isArray(value.chat_messages)) return undefined;
  const turns = value.chat_messages.flatMap((message) => turnOf(message) ?? []);
  if (turns.length === 0) return undefined;
  const text = turns.map((turn) => turn.content).join("\n");
  return {
    item: "chat",
    source: textOf(value, "uuid", "id") ?? (await digestOf(text)),
    title: textOf(value, "name", "title"),
    opened_at: timeOf(value.created_at),
    before: 0,
    turns,
    last: true,
  };
}

function turnOf(message: unknown): ChatTurn | undefined {
  if (!isObject(message)) return undefined;
  const sender = textOf(message, "sender");
  if (sender !== "human" && sender !== "assistant") return undefined;
  const texts = listOf(message.content)
    .filter((block) => textOf(block, "type") === "text")
    .flatMap((block) => textOf(block, "text") ?? []);
  const content = texts.length > 0 ? texts.join("\n\n") : textOf(message, "text");
  if (!content) return undefined;
  const role = sender === "human" ? "user" : "assistant";
  return { role, content, said_at: timeOf(message.created_at) };
}

/** The memories of one account: pages of prose, each line of which is a memory. */
export async function claudeMemories(account: unknown): Promise<MemoryItem[]> {
  const own = textOf(account, "conversations_memory", "memory", "content", "text");
  const projects = isObject(account) ? account.project_memories : undefined;
  const pages = [own, ...(isObject(projects) ? Object.values(projects) : [])];
  const lines = pages
    .flatMap((page) => (typeof page === "string" ? page.split(/\r?\n/) : []))
    .flatMap((line) => plainLine(line) ?? []);
  return Promise.all(
    lines.map(async (content) => ({
      item: "memory" as const,
      source: `memory-${await digestOf(content)}`,
      content,
    })),
  );
}

/** A line of prose without Markdown marks; `undefined` for a heading. */
function plainLine(text: string): string | undefined {
  const line = text.trim();
  if (/^(?:#|---)/.test(line) || /^\*\*.+\*\*$/.test(line)) return undefined;
  const plain = line
    .replace(/^[-*•]+/, "")
    .trim()
    .replaceAll("**", "");
  return (plain.match(/\p{L}/gu)?.length ?? 0) >= 3 ? plain : undefined;
}
