import type { Translation } from "../index.ts";

export const insights: Translation["insights"] = {
  title: "Einblicke",
  "empty.title": "Noch keine Zahlen",
  "empty.text":
    "Wie viel bekannt ist, gelernt, benutzt und berichtigt wird, sobald es etwas zu zählen gibt.",
};
