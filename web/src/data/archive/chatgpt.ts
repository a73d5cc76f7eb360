/**
 * ChatGPT's export. A conversation is a tree, because messages can be edited and answers regenerated; the branch
 * that the user saw last is imported. The same rules as `lukasa import chatgpt`.
 */
import { digestOf, isObject, type JsonObject, listOf, textOf, timeOf } from "./fields.ts";
import type { ChatItem, ChatTurn } from "./items.ts";

/** A conversation of the export, or `undefined` for anything else. */
export async function chatGptChat(value: unknown): Promise<ChatItem | undefined> {
  if (!isObject(value) || !isObject(value.mapping)) return undefined;
  const turns = branchOf(value, value.mapping).flatMap((message) => turnOf(message) ?? []);
  if (turns.length === 0) return undefined;
  const text = turns.map((turn) => turn.content).join("\n");
  return {
    item: "chat",
    source: textOf(value, "conversation_id", "id") ?? (await digestOf(text)),
    title: textOf(value, "title"),
    opened_at: timeOf(value.create_time),
    before: 0,
    turns,
    last: true,
  };
}

/** The messages from the root to the current node. Stops at a cycle. */
function branchOf(chat: JsonObject, mapping: JsonObject): unknown[] {
  const messages: unknown[] = [];
  const seen = new Set<string>();
  let id = textOf(chat, "current_node") ?? newestLeaf(mapping);
  while (id !== undefined && !seen.has(id) && Object.hasOwn(mapping, id)) {
    seen.add(id);
    const node = mapping[id];
    if (isObject(node)) messages.push(node.message);
    id = textOf(node, "parent");
  }
  return messages.reverse();
}

/** The latest message without a reply; used if the export names no current node. */
function newestLeaf(mapping: JsonObject): string | undefined {
  let newest: { id: string; at: string } | undefined;
  for (const [id, node] of Object.entries(mapping)) {
    if (!isObject(node) || listOf(node.children).length > 0) continue;
    const at = (isObject(node.message) && timeOf(node.message.create_time)) || "";
    if (!newest || at > newest.at || (at === newest.at && id > newest.id)) newest = { id, at };
  }
  return newest?.id;
}

function turnOf(message: unknown): ChatTurn | undefined {
  if (!isObject(message) || !isObject(message.content)) return undefined;
  const role = textOf(message.author, "role");
  if (role !== "user" && role !== "assistant") return undefined;
  // Messages from the assistant to a tool are not part of the conversation.
  if ((textOf(message, "recipient") ?? "all") !== "all") return undefined;
  const hidden =
    isObject(message.metadata) && message.metadata.is_visually_hidden_from_conversation;
  if (hidden === true) return undefined;
  const type = textOf(message.content, "content_type") ?? "text";
  if (type !== "text" && type !== "multimodal_text") return undefined;
  const texts = listOf(message.content.parts).flatMap((part) => {
    const text = typeof part === "string" ? part.trim() : textOf(part, "text");
    return text ? [text] : [];
  });
  if (texts.length === 0) return undefined;
  return { role, content: texts.join("\n\n"), said_at: timeOf(message.create_time) };
}
