/** The prompt of a chat before its first message. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";

export const PROMPT = ["prompt"];

/** The context of a chat before its first message. It is a preview, and counted nowhere. */
export function usePrompt() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: PROMPT,
    queryFn: ({ signal }) => lukasa.memories.retrieve({ query: "", preview: true }, { signal }),
  });
}
