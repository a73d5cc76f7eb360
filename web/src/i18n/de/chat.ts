import type { Translation } from "../index.ts";

export const chat: Translation["chat"] = {
  title: "Chat",
  "empty.title": "Noch keine Chats",
  "empty.text":
    "Sprich mit dem Beispiel-Assistenten und sieh unter jeder Antwort, was er sich gemerkt und was er benutzt hat.",
};
