import type { Translation } from "../index.ts";

export const sources: Translation["sources"] = {
  title: "Quellen",
  "empty.title": "Frag, warum",
  "empty.text":
    "Verfolge alles, was bekannt ist, bis zu dem Satz zurück, aus dem es kommt, und sieh, was darauf ruht.",
};
