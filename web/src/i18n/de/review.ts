import type { Translation } from "../index.ts";

export const review: Translation["review"] = {
  title: "Durchsicht",
  "empty.title": "Nichts durchzusehen",
  "empty.text":
    "Vermutungen, Widersprüche und Veraltetes warten hier auf dich. Nichts geht verloren, wenn du sie liegen lässt.",
};
