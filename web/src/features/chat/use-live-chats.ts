/** The live chats of this page, and hooks that read them. */
import { useSyncExternalStore } from "react";
import { beacon, streamCompletion } from "../../data/gateway.ts";
import { LiveChats } from "./live-chats.ts";
import type { Round } from "./rounds.ts";

export const liveChats = new LiveChats({ stream: streamCompletion, close: beacon });

addEventListener("pagehide", () => liveChats.closeAll());

/** The live rounds of a chat: running, or not yet stored. */
export function useLiveRounds(name: string): readonly Round[] {
  return useSyncExternalStore(liveChats.subscribe, () => liveChats.rounds(name));
}

/** The names of chats that are being answered now, one per line. */
export function useAnswering(): string {
  return useSyncExternalStore(liveChats.subscribe, () => liveChats.answering());
}
