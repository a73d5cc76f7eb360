import type { Translation } from "../catalogues.ts";

export const settings: Translation["settings"] = {
  title: "Einstellungen",
  saved: "Einstellungen gespeichert",
  changedSince: "Diese Einstellung wurde seitdem wieder geändert",
  failed: "Die Einstellungen wurden nicht gespeichert",
  "tab.rules": "Merken",
  "tab.assistants": "Assistenten",
  "tab.look": "Aussehen",

  "policy.title": "Wie Lukasa sich erinnert",
  "policy.details": "Details",
  "policy.more": "Weitere Voreinstellungen",
  "policy.reset": "Auf die Einstellungen des Servers zurücksetzen",
  "preset.balanced": "Ausgewogen",
  "preset.balanced.help":
    "Lernt am Ende eines Chats. Was sicher genug ist, wird gleich benutzt, Vermutungen warten auf mehr Belege.",
  "preset.advisor": "Gleich merken",
  "preset.advisor.help":
    "Benutzt gleich, was aus Chats abgeleitet wird. Fragt bei Finanzen einmal.",
  "preset.chat": "Nur Wichtiges",
  "preset.chat.help":
    "Lernt nach jeder Nachricht und benutzt nur, was sicher und wichtig ist. Was abgelaufen ist, wird nach 90 Tagen entfernt.",
  "preset.assistant": "Frag mich zuerst",
  "preset.assistant.help":
    "Was aus Chats abgeleitet wird, wartet unter „Prüfen“ auf dein Ja. Fakten zu dir und zur Arbeit laufen ab; Regeln bleiben.",
  "preset.research": "Lange Chats",
  "preset.research.help": "Chats bleiben zwei Stunden offen.",
  "preset.clone": "Schnell lernen",
  "preset.clone.help": "Lernt nach zehn Minuten Pause und aus Mustern, die Apps melden.",

  "consent.title": "Darf Lukasa nutzen, was es über {name} ableitet?",
  "consent.text": "Bei Erlaubnissen und Anweisungen wirst du weiterhin gefragt.",
  "consent.give": "Zustimmen",
  "consent.given": "{name} ist an, und was darüber aus Chats abgeleitet wird, wird benutzt",

  "admission.label": "Was aus Chats abgeleitet wird",
  "admission.auto": "Gleich merken",
  "admission.tiered": "Nach Gewissheit",
  "admission.staged": "Nach Gewissheit, einen Tag später",
  "admission.propose": "Mich zuerst fragen",
  "admission.off": "Nichts ableiten",
  "admission.help.auto": "Du siehst es unter „Aktivität“ und kannst es rückgängig machen.",
  "admission.help.tiered":
    "Sichere Erinnerungen, und wahrscheinliche ab {share} Gewissheit, werden in Antworten benutzt. Unsicherere findet nur die Suche, und Vermutungen warten auf mehr Belege.",
  "admission.help.staged":
    "Dasselbe, aber alles wartet zuerst unter „Prüfen“ und wird nach einem Tag übernommen, wenn du es nicht ablehnst.",
  "admission.help.propose": "Es wartet unter „Prüfen“ und wird nirgends benutzt, bis du Ja sagst.",
  "admission.help.off": "Nur was du oder eine App ausdrücklich sagt, wird gemerkt.",
  "extract.label": "Wann aus Chats gelernt wird",
  "extract.close": "Wenn ein Chat endet",
  "extract.turn": "Nach jeder Nachricht",
  "extract.manual": "Nur auf Verlangen",
  "keep.label": "Wie viel von einem Chat bleibt",
  "keep.full": "Alles",
  "keep.excerpts": "Was eine Erinnerung zitiert",
  "keep.none": "Nichts",
  "keep.help.full": "Jede Erinnerung kann den Satz zeigen, aus dem sie stammt.",
  "keep.help.excerpts": "Der Rest wird entfernt, sobald daraus gelernt wurde.",
  "keep.help.none": "Erinnerungen sagen dann, dass ihre Quelle nicht aufbewahrt wurde.",
  "idle.label": "Einen Chat beenden nach",
  "idle.minutes": "{count, plural, =0 {Nie beenden} one {# Minute} other {# Minuten}}",
  "titles.label": "Chats automatisch benennen",

  "domains.title": "Bereiche deines Lebens",
  "domains.text":
    "Wähle für jeden Bereich, was Lukasa aus Chats ableiten darf. Sensible Bereiche speichern nichts, bis du sie einschaltest.",
  "domains.sensitive": "sensibel",
  "domains.open":
    "An: Was du hier sagst, wird gespeichert; was aus Chats abgeleitet wird, wartet auf dein Ja.",
  "domains.shut":
    "Aus: nichts davon wird zur Erinnerung, auch nicht zur Vermutung, und frühere Erinnerungen werden nicht benutzt.",
  "domains.onlyThem": "Nur der Nutzer kann das einschalten.",
  "domains.ends":
    "Vorübergehende Fakten laufen hier nach {count, plural, one {# Tag} other {# Tagen}} ab.",
  "domains.admission": "Was über {name} aus Chats abgeleitet wird",
  "domains.same": "Wie überall sonst",
  "domains.opened": "{name} ist eingeschaltet",
  "domains.wasShut": "{name} ist aus",
  "domains.add": "Bereich hinzufügen",
  "domains.name": "Name",
  "domains.known": "Die API kennt ihn als {name}.",
  "domains.unnamed":
    "Es braucht einen Buchstaben von a bis z, weil die API ihn als Kennung verwendet.",
  "domains.guarded": "Sensibel",
  "domains.guardedHelp": "Für jeden Nutzer aus, bis er ihn einschaltet.",
  "domains.make": "Hinzufügen",

  "model.title": "Modell für Chats hier",

  "ways.title": "Einen Assistenten verbinden",
  "ways.text":
    "Verbundene Assistenten lesen dein Gedächtnis und speichern darin. Jede Änderung erscheint unter „Aktivität“, mit Rückgängig.",
  "connectors.title": "Über eine URL verbunden",
  "connectors.used": "Benutzt",
  "connectors.end": "Trennen",
  "connectors.ended": "Assistent getrennt",
  "connectors.may.read": "Erinnerungen lesen",
  "connectors.may.write": "speichern, ändern und vergessen",
  "connectors.may.propose": "vorschlagen",

  "look.title": "Aussehen",
  "look.language": "Der Text einer Erinnerung bleibt in seiner eigenen Sprache.",
  "look.keys": "Einzeltasten-Kürzel",
  "look.keysHelp":
    "Etwa Z für Rückgängig und J für die nächste Zeile. Schalte sie ab, wenn du diktierst.",
  "zone.title": "Zeitzone",
  "zone.label": "Zeiten werden gezeigt in",
  "zone.known": "Als Erinnerung für Assistenten gespeichert. Dort ist es {now}.",
  "zone.guessed":
    "Von diesem Browser geraten, wo es {now} ist. Wählst du eine, wird sie auch für Assistenten als Erinnerung gespeichert.",
  "zone.memory": "Lebt in der Zeitzone {zone}",
};
