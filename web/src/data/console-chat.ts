/** Tells what the user changed by a chat in the console from what an app changed. Pure. */
import type { MemoryView, OperationView } from "lukasa-client";

/** The ids of chats that the console opens begin with this. */
export const CHAT_PREFIX = "chat-";

/** What an operation wrote: a version of a memory. */
type Wrote = Pick<MemoryView, "session_id" | "known_from" | "created_at">;

/**
 * Whether an operation was made by a chat of the console. The model in a chat has the user's own sign-in, but is
 * recorded as a key. Without sign-ins, what it wrote names its chat.
 */
export function isConsoleChat(
  { caller, credential, origin, at }: OperationView,
  signIns: ReadonlySet<string>,
  wrote: Wrote | undefined,
): boolean {
  if (caller !== "key" || origin === "import") return false;
  if (signIns.has(credential)) return true;
  if (credential !== "local" || !wrote?.session_id?.startsWith(CHAT_PREFIX)) return false;
  // A later operation by an app leaves the memory in its chat.
  return wrote.known_from === at || wrote.created_at === at;
}
