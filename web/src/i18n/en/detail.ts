export const detail = {
  parts: "Parts of this memory",
  "part.about": "About",
  "part.sources": "Sources",
  "part.history": "History",
  "part.used": "Used",
  related: "Related memories",
} as const;
