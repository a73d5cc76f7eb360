import type { Translation } from "../index.ts";

export const memory: Translation["memory"] = {
  title: "Gedächtnis",
  one: "Erinnerung",
  count: "{count, plural, one {# Erinnerung} other {# Erinnerungen}}",
  loading: "{count, plural, one {bisher # Erinnerung} other {bisher # Erinnerungen}}",
  gone: "Diese Erinnerung gibt es nicht",
  goneText: "Sie wurde gelöscht, oder die Adresse gehört jemand anderem.",
  open: "Öffnen",

  "act.confirm": "Bestätigen",
  "act.forget": "Vergessen",
  "act.delete": "In den Papierkorb",
  "act.restore": "Zurückholen",

  "status.active": "gültig",
  "status.upcoming": "kommend",
  "status.proposed": "vorgeschlagen",
  "status.candidate": "Vermutung",
  "status.superseded": "abgelöst",
  "status.expired": "abgelaufen",
  "status.forgotten": "vergessen",
  "status.trashed": "im Papierkorb",

  "did.save": "Gespeichert",
  "did.update": "Geändert",
  "did.confirm": "Bestätigt",
  "did.forget": "Vergessen",
  "did.delete": "Dreißig Tage im Papierkorb",
  "did.restore": "Zurückgeholt",
  "did.erase": "Endgültig gelöscht",

  "empty.title": "Warten auf deine erste Erinnerung",
  "empty.text":
    "Alles, was über dich bekannt ist, steht hier, mit seiner Herkunft. Speichere etwas, und es erscheint sofort.",
};
