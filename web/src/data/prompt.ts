/** The prompt of a chat before its first message. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";

export const PROMPT = ["prompt"];

/**
 * The context of a chat before its first message. It is a preview, and counted nowhere. It is read again whenever it
 * is shown: turning an area on or off changes it without a live event.
 */
export function usePrompt() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: PROMPT,
    queryFn: ({ signal }) => lukasa.memories.retrieve({ query: "", preview: true }, { signal }),
    staleTime: 0,
  });
}
