/** What the address of this page may carry after the question mark: which level is open, and how. */
export interface SourcesSearch {
  /** At the top: what is known, what happened, what was said, or the chats in the trash. */
  view?: "episodes" | "chats" | "trash";
  /** Words to look for in the chats. */
  find?: string;
  /** The levels, from above to below; the lowest of them is shown, the others are the way back. */
  portrait?: string;
  memory?: string;
  episode?: string;
  session?: string;
  turn?: number;
  /** Why the turn was said. */
  why?: boolean;
}

export function sourcesSearch(said: Record<string, unknown>): SourcesSearch {
  const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);
  const views = ["episodes", "chats", "trash"] as const;
  return {
    view: views.find((view) => view === said.view),
    find: text(said.find),
    portrait: text(said.portrait),
    memory: text(said.memory),
    episode: text(said.episode),
    // A chat may be named by a number.
    session: typeof said.session === "number" ? String(said.session) : text(said.session),
    turn: typeof said.turn === "number" ? said.turn : undefined,
    why: said.why === true ? true : undefined,
  };
}
