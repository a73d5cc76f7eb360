export const sources = {
  title: "Sources",
  "empty.title": "Ask why",
  "empty.text":
    "Follow anything that is known back to the sentence it came from, and see what rests on it.",
} as const;
