/** The pages of the list of chats as one list. Pure. */
import type { Page, SessionView } from "lukasa-client";

export type ChatPage = Page<SessionView>;
interface Pages {
  pages: ChatPage[];
}

/** All chats of the pages. A chat that moved to an earlier page while they were read is listed once. */
export function chatsOf({ pages }: Pages): SessionView[] {
  const chats = new Map<string, SessionView>();
  for (const page of pages) {
    for (const chat of page.data) if (!chats.has(chat.id)) chats.set(chat.id, chat);
  }
  return [...chats.values()];
}

/** The pages with a change of their chats. */
export function withChats<T extends Pages>(
  all: T,
  change: (chats: SessionView[]) => SessionView[],
): T {
  return { ...all, pages: all.pages.map((page) => ({ ...page, data: change(page.data) })) };
}
