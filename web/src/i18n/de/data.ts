import type { Translation } from "../catalogues.ts";

export const data: Translation["data"] = {
  title: "Import & Export",
  "tab.import": "Import",
  "tab.export": "Export",
  "tab.erase": "Endgültig löschen",
  "paste.title": "Aus ChatGPT oder Claude einfügen",

  "export.title": "Alles exportieren",
  "export.text":
    "Ein ZIP mit allem, was über dich gespeichert ist; lesbar ohne Lukasa und für jeden anderen Lukasa-Server.",
  "export.counts":
    "Zurzeit: {memories, plural, one {# Erinnerung} other {# Erinnerungen}}, {sessions, plural, one {# Chat} other {# Chats}} mit {turns, plural, one {# Nachricht} other {# Nachrichten}}.",
  "export.holds.memories":
    "jede Erinnerung mit allen Fassungen, auch vergessene und der Papierkorb",
  "export.holds.chats": "deine Chats, Nachricht für Nachricht, und was darin geschah",
  "export.holds.log": "das Protokoll aller Änderungen, und was wann benutzt wurde",
  "export.holds.markdown": "dasselbe als Markdown-Seiten, zum Lesen und Bearbeiten",
  "export.holds.rules": "deine Einstellungen, was ohne Fragen geschehen darf",
  "export.holds.manifest": "ein README in einfachen Worten und ein Hash jeder Datei",
  "export.act": "Alles herunterladen",
  "export.progress": "Fortschritt des Downloads",
  "export.packing": "Packt …",
  "export.far": "{size} bisher",
  "export.saved": "Gespeichert als {name}, {size}",

  "import.title": "Eine Datei importieren",
  "import.text":
    "Wähle das ZIP von ChatGPT, Claude oder Lukasa. Du siehst zuerst eine Vorschau; nur Chats und Erinnerungen werden hochgeladen.",
  "import.where": "Woher du einen Export bekommst",
  "import.whereChatGpt":
    "ChatGPT: Einstellungen, Datenkontrolle, Daten exportieren. Ein Link zum ZIP kommt per Mail.",
  "import.whereClaude":
    "Claude: Einstellungen, Datenschutz, Daten exportieren. Ein Link kommt per Mail.",
  "import.others": "Erinnerungen aus mem0 und anderen Programmen importiert die Kommandozeile:",
  "import.unknownZip":
    "Dieses ZIP ist kein Export von ChatGPT, Claude oder Lukasa: es enthält weder conversations.json noch manifest.json",
  "import.damagedZip":
    "Dieses ZIP ist beschädigt, unvollständig oder zu groß. Lade den Export noch einmal herunter",
  "import.progress.read": "Liest die Datei",
  "import.progress.import": "Importiert",
  "import.far.read":
    "{count, plural, =0 {Liest …} one {# Eintrag gelesen} other {# Einträge gelesen}}",
  "import.far.import":
    "{count, plural, =0 {Importiert …} one {# Eintrag importiert} other {# Einträge importiert}}",
  "import.stop": "Anhalten",
  "import.choose": "Datei wählen",
  "import.drop": "oder hierher ziehen",
  "import.would": "Vorschau",
  "import.nothing": "Nichts Neues: alles darin ist schon hier.",
  "import.take": "Jetzt importieren",
  "import.taken": "Importiert",
  "import.list": "Bisherige Importe",
  "import.undone": "Import rückgängig gemacht",
  "import.wasUndone": "rückgängig gemacht",
  "import.kept":
    "{count, plural, one {# Erinnerung bleibt, weil du sie seither geändert oder bestätigt hast} other {# Erinnerungen bleiben, weil du sie seither geändert oder bestätigt hast}}",
  "found.chatgpt": "In deinem ChatGPT-Export gefunden",
  "found.claude": "In deinem Claude-Export gefunden",
  "found.chats":
    "{chats, plural, one {# Chat} other {# Chats}} mit {messages, plural, one {# Nachricht} other {# Nachrichten}}",
  "found.newest": "Neueste Chats",
  "found.memories": "{count, plural, one {# Erinnerung} other {# Erinnerungen}}",
  "found.more": "und {count, number} weitere",
  "found.unread":
    "{count, plural, one {# Eintrag ist leer oder nicht lesbar} other {# Einträge sind leer oder nicht lesbar}}",
  "found.news": "Zu importieren: {counts}",
  "found.searchable": "Importierte Chats sind sofort durchsuchbar.",
  "found.learning":
    "Daraus zu lernen braucht etwa {calls, plural, one {# Modellaufruf} other {# Modellaufrufe}} und {minutes, plural, one {# Minute} other {# Minuten}} im Hintergrund. Was gelernt wird, wartet unter Prüfen: nichts davon steht in einem Prompt, bis du zustimmst.",
  "found.noModel": "Dieser Server hat kein Modell zum Lernen; er lernt wenig oder nichts daraus.",
  "chats.title": "Importierte Chats",
  "chats.imported": "{count, plural, one {# Chat importiert.} other {# Chats importiert.}}",
  "chats.notLearned": "Die Suche findet sie; gelernt wird noch nichts daraus.",
  "chats.learning": "Was Lukasa daraus lernt, wartet unter „Prüfen“.",
  "chats.read": "Lesen",
  "chats.setUp": "Lernen einrichten",
  "decision.text":
    "{count, plural, one {# Erinnerung verwenden deine Assistenten noch nicht; eine Suche findet sie.} other {# Erinnerungen verwenden deine Assistenten noch nicht; eine Suche findet sie.}}",
  "decision.all": "Alle verwenden",
  "decision.choose": "Auswählen …",
  "decision.done":
    "{count, plural, one {# Erinnerung verwenden deine Assistenten jetzt} other {# Erinnerungen verwenden deine Assistenten jetzt}}",
  "count.memories": "{count, plural, one {# neue Erinnerung} other {# neue Erinnerungen}}",
  "count.proposals":
    "{count, plural, one {# Vorschlag zum Bestätigen} other {# Vorschläge zum Bestätigen}}",
  "count.known": "{count, number} schon bekannt",
  "count.links": "{count, plural, one {# Verbindung} other {# Verbindungen}}",
  "count.episodes": "{count, plural, one {# Zusammenfassung} other {# Zusammenfassungen}}",
  "count.chats": "{count, plural, one {# Chat} other {# Chats}}",
  "count.turns": "{count, plural, one {# Nachricht} other {# Nachrichten}}",
  "count.secrets":
    "{count, plural, one {# ausgelassen, weil es wie ein Geheimnis aussieht} other {# ausgelassen, weil sie wie Geheimnisse aussehen}}",
  "count.left_out": "{count, number} ausgelassen",

  "erase.text":
    "Vergessen und Löschen lassen sich rückgängig machen. Endgültiges Löschen nicht: Es entfernt die Daten sofort und überall, und hinterlässt einen signierten Löschnachweis nur mit Anzahlen, nie mit Inhalt.",
  "erase.one": "Eine Erinnerung endgültig löschen",
  "erase.which": "An ihren Worten finden",
  "erase.whichHelp": "Sucht auch unter vergessenen Erinnerungen und im Papierkorb.",
  "erase.none": "Keine Erinnerung passt",
  "erase.more": "{count, plural, one {# weitere; tippe weiter} other {# weitere; tippe weiter}}",
  "erase.act": "Endgültig löschen",
  "erase.oneTitle": "Diese Erinnerung endgültig löschen?",
  "erase.oneText":
    "Sie wird sofort und überall entfernt: ihr Text, ihre Fassungen, ihre Embeddings. Sie lässt sich nicht wiederherstellen. Damit sie nur nicht mehr verwendet wird, genügt Vergessen.",
  "erase.word": "löschen",
  "erase.goes": "Das wird entfernt",
  "erase.done": "Endgültig gelöscht",
  "erase.doneText": "Nur dieser Löschnachweis bleibt. Er nennt, wann und wie viel, nie was.",
  "erase.receiptLater": "Der Löschnachweis steht in „Import & Export“ unter „Endgültig löschen“.",
  "erase.all": "Alles über mich endgültig löschen",
  "erase.allText":
    "Alle Erinnerungen, Chats und Einstellungen, und die Schlüssel, die nur für dich sind. Lade vorher alles herunter, falls du es später brauchst.",
  "erase.ask":
    "Alles auf einmal können nur der Nutzer, angemeldet über einen Link mit dieser Berechtigung, und der Betreiber dieses Servers endgültig löschen.",
  "erase.allAct": "Alles endgültig löschen",
  "erase.allTitle": "Alles über {user} endgültig löschen?",
  "erase.allWarn": "Das geschieht sofort und lässt sich nicht rückgängig machen.",

  "gone.memories": "{count, plural, one {# Erinnerung} other {# Erinnerungen}}",
  "gone.versions": "{count, plural, one {# Fassung} other {# Fassungen}}",
  "gone.links": "{count, plural, one {# Verbindung} other {# Verbindungen}}",
  "gone.chats": "{count, plural, one {# Chat} other {# Chats}}",
  "gone.turns": "{count, plural, one {# Nachricht} other {# Nachrichten}}",
  "gone.episodes": "{count, plural, one {# Zusammenfassung} other {# Zusammenfassungen}}",
  "gone.portraits": "{count, plural, one {# Profiltext} other {# Profiltexte}}",
  "gone.prompts": "{count, plural, one {# gespeicherter Prompt} other {# gespeicherte Prompts}}",
  "gone.operations": "{count, plural, one {# Protokolleintrag} other {# Protokolleinträge}}",
  "gone.passages": "{count, plural, one {# Sucheintrag} other {# Sucheinträge}}",
  "gone.embeddings": "{count, plural, one {# Embedding} other {# Embeddings}}",
  "gone.rest": "{count, plural, one {# andere Zeile} other {# andere Zeilen}}",
  "gone.nothing": "Es gab nichts mehr zu entfernen",

  "receipt.list": "Löschnachweise",
  "receipt.none":
    "Nichts wurde endgültig gelöscht. Jedes endgültige Löschen hinterlässt hier seinen Nachweis.",
  "receipt.user": "Alles über einen Nutzer",
  "receipt.memory": "Eine Erinnerung",
  "receipt.turn": "Eine Nachricht eines Chats",
  "receipt.download": "Löschnachweis",
  "receipt.valid":
    "Die Signatur ist gültig: von diesem Server, über genau diesen Nachweis; in diesem Browser geprüft",
  "receipt.invalid":
    "Die Signatur ist nicht die dieses Servers: verlass dich nicht auf diesen Nachweis",
  "receipt.files": "Aus der Datenbank entfernt; vom Datenträger beim nächsten Aufräumen entfernt",
  "receipt.filesDone": "Aus der Datenbank und aus ihren Dateien entfernt",
  "receipt.journal":
    "Im Löschjournal: wird nach dem Zurückspielen einer Sicherung wieder endgültig gelöscht",
  "receipt.noJournal":
    "Kein Löschjournal ist eingerichtet; eine eingespielte Sicherung brächte es zurück.",
  "receipt.more": "Was nicht entfernt werden konnte, und wie man das ohne Netz prüft",
  "receipt.left": "Für Lukasa unerreichbar:",
  "receipt.each":
    "{count, plural, one {Eines wurde endgültig gelöscht und hat seinen Nachweis:} other {# Dinge wurden endgültig gelöscht, jedes mit eigenem Nachweis:}}",
  "receipt.verify":
    "Lade den Nachweis herunter und führe dies irgendwo aus; es fragt keinen Server. Notiere den Schlüssel einmal, solange du ihm traust.",

  "goneAll.title": "Alles ist endgültig gelöscht",
  "goneAll.text": "Behalte diesen Löschnachweis: Er ist alles, was davon bleibt.",
  "goneAll.before": "Alles, was über diesen Nutzer gespeichert war, ist endgültig gelöscht.",
  "goneAll.signedOut": "Du bist abgemeldet. Um neu anzufangen, bitte um einen neuen Link.",
  "goneAll.again": "Neu anfangen",
};
