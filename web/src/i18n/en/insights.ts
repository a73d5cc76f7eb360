export const insights = {
  title: "Insights",
  "empty.title": "No figures yet",
  "empty.text":
    "How much is known, learned, used and corrected over time, once there is something to count.",
} as const;
