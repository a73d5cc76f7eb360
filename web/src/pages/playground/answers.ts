/** The server's answers to a message: the context, and what each arm made of it. */

import { useQuery } from "@tanstack/react-query";
import {
  type ContextView,
  LukasaError,
  type RetrievalView,
  type SearchAnswer,
} from "lukasa-client";
import { usePreferences } from "../../app/preferences.ts";
import { useLukasa, useSignIn } from "../../app/sign-in.tsx";
import { command } from "../../data/curl.ts";
import { retrieveBody, searchBody } from "./ask.ts";
import type { Setting } from "./search.ts";

export interface Answers {
  context: ContextView;
  found: SearchAnswer;
}

/** Asks when there is a message, and again only when told to: every context that is given is noted. */
export function useAnswers(query: string, setting: Setting, wanted = true) {
  const lukasa = useLukasa();
  const timezone = useTimezone();
  const asked = retrieveBody(query, setting, timezone);
  const searched = searchBody(query, setting, timezone);
  return useQuery({
    queryKey: ["playground", asked, searched] as const,
    queryFn: async ({ signal }): Promise<Answers> => {
      const context = await lukasa.memories.retrieve(asked, { signal });
      const found = await lukasa.memories.search(searched, { signal });
      return { context, found };
    },
    enabled: wanted && query !== "",
    // Another setting for the same message: what is shown stays until there is something new to show.
    placeholderData: (before, old) => (old?.queryKey[1].query === query ? before : undefined),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What the server kept of a retrieval. It is noted behind the answer, so it may take a moment. */
export function useTrace(id: string, wanted: boolean) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["playground", "trace", id],
    queryFn: ({ signal }): Promise<RetrievalView> => lukasa.retrieval(id, { signal }),
    enabled: wanted,
    retry: (times, error) => error instanceof LukasaError && error.status === 404 && times < 4,
    retryDelay: 400,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The commands that ask the same of this server. */
export function useCommands(query: string, setting: Setting): { retrieve: string; search: string } {
  const { user, local } = useSignIn();
  const timezone = useTimezone();
  const from = { user, local };
  return {
    retrieve: command("/api/memory/retrieve", retrieveBody(query, setting, timezone), from),
    search: command("/api/memory/search", searchBody(query, setting, timezone), from),
  };
}

/** The zone in which the person says "yesterday". */
function useTimezone(): string {
  return usePreferences().timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
