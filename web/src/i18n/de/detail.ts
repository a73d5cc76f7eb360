import type { Translation } from "../catalogues.ts";

export const detail: Translation["detail"] = {
  parts: "Teile dieser Erinnerung",
  "part.about": "Überblick",
  "part.sources": "Quellen",
  "part.history": "Verlauf",
  "part.used": "Verwendet",
  related: "Verwandte Erinnerungen",
};
