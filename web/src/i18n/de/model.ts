import type { Translation } from "../catalogues.ts";

export const model: Translation["model"] = {
  setUp: "Modell einrichten",
  change: "Modell ändern",
  inUse: "Hier antwortet {model}.",
  found: "Auf diesem Rechner gefunden",
  choose: "{service}: {model}",
  noModels: "{service} läuft, hat aber noch kein Modell.",
  notFound:
    "Auf diesem Rechner wurde kein Modelldienst gefunden. Ollama oder LM Studio führen Modelle hier aus.",
  url: "Adresse",
  urlHelp: "Die eines OpenAI-kompatiblen Dienstes. Sie endet oft auf /v1.",
  key: "Schlüssel",
  keyHelp:
    "Nur, wenn der Dienst einen braucht. Er wird auf diesem Rechner gespeichert und nie wieder angezeigt.",
  name: "Modell",
  test: "Testen",
  testing: "Das Modell wird getestet …",
  save: "Speichern und verwenden",
  cancel: "Abbrechen",
  remove: "Dieses Modell entfernen",
  works: "Das Modell hat geantwortet.",
  "reason.address": "Die Adresse muss mit http:// oder https:// beginnen.",
  "reason.unreachable": "Unter dieser Adresse antwortet nichts. Prüfe, ob der Dienst läuft.",
  "reason.timeout": "Der Dienst hat nicht rechtzeitig geantwortet.",
  "reason.key": "Der Dienst braucht einen Schlüssel oder akzeptiert diesen nicht.",
  "reason.model": "Der Dienst hat dieses Modell nicht.",
  "reason.not_chat":
    "Unter dieser Adresse ist kein OpenAI-kompatibler Chat-Dienst. Sie endet oft auf /v1.",
  "reason.refused": "Der Dienst hat mit einem Fehler geantwortet.",
};
