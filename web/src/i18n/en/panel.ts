export const panel = {
  title: "Memory",
  "empty.title": "Nothing is known yet",
  "empty.text": "What the assistant remembers about you will be listed here.",
} as const;
