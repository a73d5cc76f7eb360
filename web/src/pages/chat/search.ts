/** What the address of this page may carry after the question mark. */
export interface ChatSearch {
  /** Incognito: nothing of this chat is kept, and with `off` nothing that is known is used either. */
  mode?: "read-only" | "off";
  /** The memory that this chat is about. */
  about?: string;
}

export function chatSearch(said: Record<string, unknown>): ChatSearch {
  const { mode, about } = said;
  return {
    mode: mode === "read-only" || mode === "off" ? mode : undefined,
    about: typeof about === "string" && /^mem_[0-9a-z]+$/.test(about) ? about : undefined,
  };
}
