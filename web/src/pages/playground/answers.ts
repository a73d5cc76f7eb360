/** Requests for a message: its context, and its search results by arm. */

import { useQuery } from "@tanstack/react-query";
import {
  type ContextView,
  LukasaError,
  type RetrievalView,
  type SearchAnswer,
} from "lukasa-client";
import { usePreferences } from "../../base/preferences.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { command } from "../../data/curl.ts";
import type { Setting } from "./params.ts";
import { retrieveBody, searchBody } from "./requests.ts";

export interface Answers {
  context: ContextView;
  found: SearchAnswer;
}

/** Fetches when there is a message, and again only on request: every retrieval is stored. */
export function useAnswers(query: string, setting: Setting, wanted = true) {
  const lukasa = useLukasa();
  const timezone = useTimezone();
  const retrieveRequest = retrieveBody(query, setting, timezone);
  const searchRequest = searchBody(query, setting, timezone);
  return useQuery({
    queryKey: ["playground", retrieveRequest, searchRequest] as const,
    queryFn: async ({ signal }): Promise<Answers> => {
      const context = await lukasa.memories.retrieve(retrieveRequest, { signal });
      const found = await lukasa.memories.recall(searchRequest, { signal });
      return { context, found };
    },
    enabled: wanted && query !== "",
    // After a changed setting the previous result stays visible until the new one is there.
    placeholderData: (before, old) => (old?.queryKey[1].query === query ? before : undefined),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The stored trace of a retrieval. It is written after the response, so it may take a moment. */
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

/** curl commands for the same requests. */
export function useCommands(query: string, setting: Setting): { retrieve: string; search: string } {
  const { user, local } = useSignIn();
  const timezone = useTimezone();
  const from = { user, local };
  return {
    retrieve: command("/api/memory/retrieve", retrieveBody(query, setting, timezone), from),
    search: command("/api/memory/search", searchBody(query, setting, timezone), from),
  };
}

/** The user's time zone, for words such as "yesterday". */
function useTimezone(): string {
  return usePreferences().timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
