/** When the user confirmed a memory. Pure. */
import type { MemoryView } from "lukasa-client";

/**
 * When the user last confirmed a memory. That the user has said something again is known from an assistant, so it
 * confirms what came from the user, but not what an assistant told: that takes consent.
 */
export function confirmedAt(
  memory: Pick<MemoryView, "consented_at" | "last_confirmed_at" | "origin">,
): string | undefined {
  const isOfUser = memory.origin === "user_said" || memory.origin === "user_turn";
  const saidAgain = isOfUser ? memory.last_confirmed_at : undefined;
  return saidAgain ?? memory.consented_at ?? undefined;
}
