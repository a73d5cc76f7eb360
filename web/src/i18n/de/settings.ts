import type { Translation } from "../index.ts";

export const settings: Translation["settings"] = {
  title: "Einstellungen",
  "empty.title": "Einstellungen",
  "empty.text":
    "Was ohne Rückfrage geschehen darf, welche Bereiche offen sind, Schlüssel, Apps und Aufgaben.",
};
