/** What was found in an export, for its preview. Pure. */
import type { ChatItem, ImportItem } from "./items.ts";

export interface Found {
  chats: number;
  messages: number;
  memories: number;
  /** Entries that could not be read. */
  unread: number;
  /** When the oldest and the newest chat began. */
  from?: string;
  until?: string;
  /** The newest chats. */
  newest: { title: string; at: string }[];
  /** The first memories. */
  samples: string[];
}

const MAX_SHOWN = 5;

export function emptyFound(): Found {
  return { chats: 0, messages: 0, memories: 0, unread: 0, newest: [], samples: [] };
}

/** Counts one more item. */
export function addFound(found: Found, item: ImportItem): void {
  if (item.item === "memory") {
    found.memories++;
    if (found.samples.length < MAX_SHOWN) found.samples.push(item.content);
    return;
  }
  found.chats++;
  found.messages += item.turns.length;
  const at = dateOf(item);
  if (!at) return;
  if (!found.from || at < found.from) found.from = at;
  if (!found.until || at > found.until) found.until = at;
  if (!item.title) return;
  found.newest.push({ title: item.title, at });
  found.newest.sort((one, other) => other.at.localeCompare(one.at));
  found.newest.length = Math.min(found.newest.length, MAX_SHOWN);
}

function dateOf(chat: ChatItem): string | undefined {
  return chat.opened_at ?? chat.turns.find((turn) => turn.said_at)?.said_at;
}
