export const data = {
  title: "Import & export",
  "tab.import": "Import",
  "tab.export": "Export",
  "tab.erase": "Erase",
  "paste.title": "Paste from ChatGPT or Claude",

  "export.title": "Export everything",
  "export.text":
    "One ZIP with everything stored about you, readable without Lukasa and by any other Lukasa server.",
  "export.counts":
    "Now: {memories, plural, one {# memory} other {# memories}}, {sessions, plural, one {# chat} other {# chats}} with {turns, plural, one {# message} other {# messages}}.",
  "export.holds.memories": "every memory with all its versions, also forgotten ones and the trash",
  "export.holds.chats": "your chats, message by message, and what happened in them",
  "export.holds.log": "the log of all changes, and what was used when",
  "export.holds.markdown": "the same as Markdown pages, for reading and editing",
  "export.holds.rules": "your settings for what may happen without asking",
  "export.holds.manifest": "a README in plain words, and a hash of every file",
  "export.act": "Download everything",
  "export.progress": "Download progress",
  "export.packing": "Packing…",
  "export.far": "{size} so far",
  "export.saved": "Saved as {name}, {size}",

  "import.title": "Import a file",
  "import.text":
    "The ZIP of a ChatGPT or Claude export, a Lukasa export, or items as JSON lines. You see a preview first. Of ChatGPT and Claude exports only the chats and memories are sent to the server. Nothing is imported twice, and nothing that was erased or forgotten here is restored.",
  "import.where": "Where to get an export",
  "import.whereChatGpt":
    "ChatGPT: Settings, Data controls, Export data. A link to the ZIP arrives by mail.",
  "import.whereClaude": "Claude: Settings, Privacy, Export data. A link arrives by mail.",
  "import.others": "Memories of mem0 and other programs are imported on the command line:",
  "import.unknownZip":
    "This ZIP is no export of ChatGPT, Claude or Lukasa: it has neither conversations.json nor manifest.json",
  "import.damagedZip": "This ZIP is damaged, incomplete or too large. Download the export again",
  "import.progress.read": "Reading the file",
  "import.progress.import": "Importing",
  "import.far.read": "{count, plural, =0 {Reading…} one {# entry read} other {# entries read}}",
  "import.far.import":
    "{count, plural, =0 {Importing…} one {# entry imported} other {# entries imported}}",
  "import.stop": "Stop",
  "import.choose": "Choose a file",
  "import.drop": "or drop it here",
  "import.would": "Preview",
  "import.nothing": "Nothing new: everything in it is here already.",
  "import.take": "Import now",
  "import.taken": "Imported",
  "import.list": "Imports so far",
  "import.undone": "Import undone",
  "import.wasUndone": "undone",
  "import.kept":
    "{count, plural, one {# memory stays, because you changed or confirmed it since} other {# memories stay, because you changed or confirmed them since}}",
  "found.chatgpt": "Found in your ChatGPT export",
  "found.claude": "Found in your Claude export",
  "found.chats":
    "{chats, plural, one {# chat} other {# chats}} with {messages, plural, one {# message} other {# messages}}",
  "found.newest": "Newest chats",
  "found.memories": "{count, plural, one {# memory} other {# memories}}",
  "found.more": "and {count, number} more",
  "found.unread":
    "{count, plural, one {# entry is empty or cannot be read} other {# entries are empty or cannot be read}}",
  "found.news": "To import: {counts}",
  "found.searchable": "Imported chats can be searched at once.",
  "found.learning":
    "Learning from them takes about {calls, plural, one {# model call} other {# model calls}} and {minutes, plural, one {# minute} other {# minutes}} in the background. What is learned waits in Review: nothing is in a prompt until you agree.",
  "found.noModel": "Nothing is learned from them, because this server has no model for it.",
  "decision.text":
    "{count, plural, one {# memory is not used by your assistants yet; a search finds it.} other {# memories are not used by your assistants yet; a search finds them.}}",
  "decision.all": "Use all",
  "decision.choose": "Choose…",
  "decision.done":
    "{count, plural, one {# memory is used by your assistants now} other {# memories are used by your assistants now}}",
  "count.memories": "{count, plural, one {# new memory} other {# new memories}}",
  "count.proposals":
    "{count, plural, one {# suggestion for you to confirm} other {# suggestions for you to confirm}}",
  "count.known": "{count, number} already known",
  "count.links": "{count, plural, one {# link} other {# links}}",
  "count.episodes": "{count, plural, one {# summary} other {# summaries}}",
  "count.chats": "{count, plural, one {# chat} other {# chats}}",
  "count.turns": "{count, plural, one {# message} other {# messages}}",
  "count.secrets":
    "{count, plural, one {# left out because it looks like a secret} other {# left out because they look like secrets}}",
  "count.left_out": "{count, number} left out",

  "erase.text":
    "Forgetting and deleting can be undone. Erasing cannot: it removes the data now and everywhere, and leaves a signed receipt with counts only, never content.",
  "erase.one": "Erase one memory",
  "erase.which": "Find it by its words",
  "erase.whichHelp": "Also searches forgotten memories and the trash.",
  "erase.none": "No memory matches",
  "erase.more": "{count, plural, one {# more; keep typing} other {# more; keep typing}}",
  "erase.act": "Erase",
  "erase.oneTitle": "Erase this memory?",
  "erase.oneText":
    "It is removed now and everywhere: its text, its versions, its embeddings. It cannot be restored. To only keep it out of prompts, forget it instead.",
  "erase.word": "erase",
  "erase.goes": "This is removed",
  "erase.done": "Erased",
  "erase.doneText": "Only this receipt remains. It records when and how much, never what.",
  "erase.receiptLater": "The receipt is in Import & export, under Erase.",
  "erase.all": "Erase everything about me",
  "erase.allText":
    "All memories, chats and settings, and the keys that are for you alone. Download everything first if you may need it later.",
  "erase.ask":
    "Only the user, signed in by a link that may erase, and the operator of this server can erase everything at once.",
  "erase.allAct": "Erase everything",
  "erase.allTitle": "Erase everything about {user}?",
  "erase.allWarn": "This happens at once and cannot be undone.",

  "gone.memories": "{count, plural, one {# memory} other {# memories}}",
  "gone.versions": "{count, plural, one {# version} other {# versions}}",
  "gone.links": "{count, plural, one {# link} other {# links}}",
  "gone.chats": "{count, plural, one {# chat} other {# chats}}",
  "gone.turns": "{count, plural, one {# message} other {# messages}}",
  "gone.episodes": "{count, plural, one {# summary} other {# summaries}}",
  "gone.portraits": "{count, plural, one {# profile text} other {# profile texts}}",
  "gone.prompts": "{count, plural, one {# stored prompt} other {# stored prompts}}",
  "gone.operations": "{count, plural, one {# log entry} other {# log entries}}",
  "gone.passages": "{count, plural, one {# search entry} other {# search entries}}",
  "gone.embeddings": "{count, plural, one {# embedding} other {# embeddings}}",
  "gone.rest": "{count, plural, one {# other row} other {# other rows}}",
  "gone.nothing": "There was nothing left to remove",

  "receipt.list": "Receipts",
  "receipt.none": "Nothing has been erased. Each erasure leaves its receipt here.",
  "receipt.user": "Everything about a user",
  "receipt.memory": "A memory",
  "receipt.turn": "A message of a chat",
  "receipt.download": "Receipt",
  "receipt.valid":
    "The signature is valid: made by this server, over exactly this receipt; checked in this browser",
  "receipt.invalid": "The signature is not this server’s: do not rely on this receipt",
  "receipt.files": "Removed from the database; removed from disk at the next clean-up",
  "receipt.filesDone": "Removed from the database and from its files",
  "receipt.journal": "In the erasure journal: erased again if a backup is restored",
  "receipt.noJournal": "No erasure journal is configured: restoring a backup would restore it",
  "receipt.more": "What could not be removed, and how to check this offline",
  "receipt.left": "Lukasa cannot reach:",
  "receipt.each":
    "{count, plural, one {One thing was erased, and has its receipt:} other {# things were erased, and each has its own receipt:}}",
  "receipt.verify":
    "Download the receipt and run this anywhere; it contacts no server. Note the key once, while you trust it.",

  "goneAll.title": "Everything is erased",
  "goneAll.text": "Keep this receipt: it is the only remaining record.",
  "goneAll.before": "Everything stored about this user has been erased.",
  "goneAll.signedOut": "You are signed out. To start again, ask for a new link.",
  "goneAll.again": "Start again",
} as const;
