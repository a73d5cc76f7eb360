export const playground = {
  title: "Playground",
  "empty.title": "See what goes into a prompt",
  "empty.text":
    "Type a message as one of your users would, and see exactly what would be recalled, and why.",
} as const;
