/** The latest call of an assistant, from the log and the uses of keys. Pure. */
import type { KeyView, MemoryView, OperationView } from "lukasa-client";
import { isConsoleChat } from "../../data/console-chat.ts";

export interface AssistantCall {
  at: string;
  /** The name of the key that was used, if it is known. */
  key?: string;
}

/** What tells an assistant from the chat of this console, which writes in its name. */
export interface Known {
  signIns: ReadonlySet<string>;
  byId: ReadonlyMap<string, MemoryView>;
}

/** The latest write of an assistant. */
export function latestWrite(
  operations: readonly OperationView[],
  keys: readonly Pick<KeyView, "id" | "name">[],
  { signIns, byId }: Known,
): AssistantCall | undefined {
  const calls = operations
    .filter((one) => one.caller === "key" && one.origin === "assistant")
    .filter((one) => {
      const memory = byId.get(one.memory_ids[0] ?? "");
      // Without sign-ins only the memory tells, and its event may be still to come.
      return (memory || one.credential !== "local") && !isConsoleChat(one, signIns, memory);
    })
    .map((one) => ({ at: one.at, key: keys.find((key) => key.id === one.credential)?.name }));
  return latestOf(calls);
}

/** The latest use of an assistant's key: of calls that wrote nothing, only this is known. */
export function latestUse(
  keys: readonly Pick<KeyView, "name" | "user" | "permissions" | "last_used_at">[],
  user: string,
): AssistantCall | undefined {
  const calls = keys.flatMap(({ name, user: owner, permissions, last_used_at }) => {
    // Admin keys sign users in to this console.
    const isAssistant = !permissions.includes("admin") && (owner ?? user) === user;
    return isAssistant && last_used_at ? [{ at: last_used_at, key: name }] : [];
  });
  return latestOf(calls);
}

export function latestOf(
  calls: readonly (AssistantCall | null | undefined)[],
): AssistantCall | undefined {
  return calls.reduce<AssistantCall | undefined>(
    (latest, call) =>
      call && (!latest || Date.parse(call.at) > Date.parse(latest.at)) ? call : latest,
    undefined,
  );
}
