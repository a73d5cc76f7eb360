/** The latest call of an assistant, from the log and the uses of keys. Pure. */
import type { KeyView, OperationView } from "lukasa-client";

export interface AssistantCall {
  at: string;
  /** The name of the key that was used, if it is known. */
  key?: string;
}

/** Writes of an assistant are in the log; of other calls only the last use of a key is known. */
export function latestCall(
  operations: readonly Pick<OperationView, "at" | "caller" | "origin" | "credential">[],
  keys: readonly Pick<KeyView, "id" | "name" | "user" | "permissions" | "last_used_at">[],
  user: string,
): AssistantCall | undefined {
  const calls: AssistantCall[] = operations
    .filter((one) => one.caller === "key" && one.origin === "assistant")
    .map((one) => ({ at: one.at, key: keys.find((key) => key.id === one.credential)?.name }));
  for (const { name, user: owner, permissions, last_used_at } of keys) {
    // Admin keys sign users in to this console.
    const isAssistant = !permissions.includes("admin") && (owner ?? user) === user;
    if (isAssistant && last_used_at) calls.push({ at: last_used_at, key: name });
  }
  return calls.reduce<AssistantCall | undefined>(
    (latest, call) => (!latest || Date.parse(call.at) > Date.parse(latest.at) ? call : latest),
    undefined,
  );
}
