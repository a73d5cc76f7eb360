export const reveal = {
  found: "What was found",
  saved: "What was saved",
  foundText: "Assistants use only what you keep. Drop what is wrong.",
  savedText: "Connected assistants know this now.",
  inAreas: "{count, plural, one {in # area} other {in # areas}}",
  more: "{count, plural, one {# more is not listed here yet: Keep all includes it.} other {# more are not listed here yet: Keep all includes them.}}",
  keep: "{dropped, plural, =0 {Keep all {count, number}} other {Keep {count, number}}}",
  keepArea: "Keep these",
  drop: "Drop",
  putBack: "Put back",
  dropped:
    "{count, plural, one {# dropped: it will be forgotten, and can be restored.} other {# dropped: they will be forgotten, and can be restored.}}",
  later: "Decide later",
  done: "{count, plural, =0 {Done} other {Forget #}}",
  did: "{dropped, plural, =0 {{kept, number} kept} other {{kept, number} kept, # dropped}}",
  decided: "All decided",
  decidedText: "Assistants use what you kept. You can change or forget it at any time.",
  seeMemory: "See what your assistants know",
  suggestions:
    "{count, plural, one {# suggestion waits for your answer} other {# suggestions wait for your answer}}",
} as const;
