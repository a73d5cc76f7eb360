import type { Translation } from "../index.ts";

export const playground: Translation["playground"] = {
  title: "Werkbank",
  "empty.title": "Sieh, was in einen Prompt kommt",
  "empty.text":
    "Schreib eine Nachricht wie eine deiner Personen und sieh genau, woran erinnert würde und warum.",
};
