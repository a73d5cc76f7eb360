export const review = {
  title: "Review",
  "empty.title": "Nothing to review",
  "empty.text":
    "Guesses, contradictions and what may be out of date will wait for you here. Nothing is lost if you ignore them.",
} as const;
