import type { Translation } from "../catalogues.ts";

export const reveal: Translation["reveal"] = {
  found: "Was gefunden wurde",
  saved: "Was gespeichert wurde",
  foundText: "Assistenten verwenden nur, was du behältst. Verwirf, was nicht stimmt.",
  savedText: "Verbundene Assistenten wissen das jetzt.",
  inAreas: "{count, plural, one {in # Bereich} other {in # Bereichen}}",
  more: "{count, plural, one {# weitere ist hier noch nicht aufgeführt: „Alle behalten“ gilt auch für sie.} other {# weitere sind hier noch nicht aufgeführt: „Alle behalten“ gilt auch für sie.}}",
  keep: "{dropped, plural, =0 {Alle {count, number} behalten} other {{count, number} behalten}}",
  keepArea: "Diese behalten",
  drop: "Verwerfen",
  putBack: "Doch behalten",
  dropped:
    "{count, plural, one {# verworfen: sie wird vergessen und kann wiederhergestellt werden.} other {# verworfen: sie werden vergessen und können wiederhergestellt werden.}}",
  later: "Später entscheiden",
  done: "{count, plural, =0 {Fertig} other {# vergessen}}",
  did: "{dropped, plural, =0 {{kept, number} behalten} other {{kept, number} behalten, # verworfen}}",
  decided: "Alles entschieden",
  decidedText:
    "Assistenten verwenden, was du behalten hast. Du kannst es jederzeit ändern oder vergessen.",
  seeMemory: "Ansehen, was deine Assistenten wissen",
  suggestions:
    "{count, plural, one {# Vorschlag wartet auf deine Antwort} other {# Vorschläge warten auf deine Antwort}}",
};
