export const settings = {
  title: "Settings",
  "empty.title": "Settings",
  "empty.text": "What may happen without asking, which areas are open, keys, apps and jobs.",
} as const;
