export const chat = {
  title: "Chat",
  "empty.title": "No chats yet",
  "empty.text":
    "Talk to the reference assistant, and see below each reply what it remembered and what it used.",
} as const;
