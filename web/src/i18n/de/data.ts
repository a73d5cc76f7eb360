import type { Translation } from "../index.ts";

export const data: Translation["data"] = {
  title: "Meine Daten",
  "empty.title": "Alles gehört dir",
  "empty.text": "Nimm alles als eine Datei mit, oder lass es mit Quittung löschen.",
};
