export const data = {
  title: "My data",
  "empty.title": "Everything is yours",
  "empty.text": "Take all of it with you as one file, or have it erased with a receipt.",
} as const;
