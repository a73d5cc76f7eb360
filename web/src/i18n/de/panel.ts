import type { Translation } from "../catalogues.ts";

export const panel: Translation["panel"] = {
  title: "Gedächtnis",
  "empty.title": "Noch ist nichts bekannt",
  "empty.text": "Was der Assistent über dich weiß, steht dann hier.",
};
