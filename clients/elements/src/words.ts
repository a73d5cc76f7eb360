/** The texts of the elements. Replace them for one element with `strings`, or for all with `setStrings`. */
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
  failed: "Memory is temporarily unavailable.",
  refused: "Something went wrong.",
  retry: "Try again",
  sources: "What this answer used",
  cited: "used",
  given: "available, not used",
  noSources: "This answer used no memory.",
  budget: "Memory in this prompt",
  tokens: "{used} of {limit} tokens",
  baseline: "always included",
  dynamic: "for this message",
  free: "free",
};

export type Words = typeof WORDS;

let current: Words = WORDS;

/** Replaces texts in every element that has no `strings`. */
export function setStrings(words: Partial<Words>): void {
  current = { ...current, ...words };
}

export function words(own: Partial<Words> | undefined): Words {
  return own ? { ...current, ...own } : current;
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all));
}
