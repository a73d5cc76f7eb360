/** Search parameters of the chat page. */
export interface ChatParams {
  /** Incognito: the chat is not stored; with `off` no memory is used either. */
  mode?: "read-only" | "off";
  /** The memory that this chat is about. */
  about?: string;
  /** The number of the answer whose sources are shown in a drawer. */
  why?: number;
}

export function parseChatParams(params: Record<string, unknown>): ChatParams {
  const { mode, about, why } = params;
  return {
    mode: mode === "read-only" || mode === "off" ? mode : undefined,
    about: typeof about === "string" && /^mem_[0-9a-z]+$/.test(about) ? about : undefined,
    why: typeof why === "number" && Number.isInteger(why) && why > 0 ? why : undefined,
  };
}
