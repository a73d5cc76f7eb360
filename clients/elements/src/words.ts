/** What the elements say. Every word can be another: give an element `strings`, or all of them with `say`. */
export const WORDS = {
  title: "What I remember",
  hard: "Rules",
  soft: "Context",
  add: "Remember something",
  save: "Save",
  cancel: "Cancel",
  edit: "Edit",
  forget: "Forget",
  undo: "Undo",
  confirm: "Yes, remember",
  reject: "No",
  proposed: "May I remember this?",
  because: "Because",
  confirmed: "confirmed {when}",
  saved: "Memory saved",
  updated: "Memory changed",
  forgotten: "Forgotten",
  agreed: "Confirmed",
  rejected: "Not remembered",
  undone: "Undone",
  emptyHard: "No rules yet. A rule is something that must always be respected.",
  emptySoft: "Nothing yet. Tell me something about you, or say “remember that…” in a chat.",
  loading: "Loading…",
  failed: "The memory does not answer just now.",
  refused: "That did not work.",
  retry: "Try again",
  sources: "What this answer used",
  cited: "used",
  given: "known, not used",
  noSources: "This answer used no memory.",
  budget: "Memory in this prompt",
  tokens: "{used} of {limit} tokens",
  baseline: "always there",
  dynamic: "for this message",
  free: "free",
};

export type Words = typeof WORDS;

let said: Words = WORDS;

/** Says these words instead, in every element that has none of its own. */
export function say(words: Partial<Words>): void {
  said = { ...said, ...words };
}

export function words(own: Partial<Words> | undefined): Words {
  return own ? { ...said, ...own } : said;
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all));
}
