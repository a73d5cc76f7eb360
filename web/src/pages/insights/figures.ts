/** What the server counts: one entry for every day, in UTC. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQuipu } from "../../app/sign-in.tsx";
import type { Range } from "./search.ts";

export interface Day {
  day: string;
  /** Memories that were told, learned from chats, and that began by waiting for a yes. */
  saved: number;
  learned: number;
  proposed: number;
  confirmed: number;
  rejected: number;
  corrected: number;
  forgotten: number;
  /** How many there were at the end of the day. */
  memories: { strong: number; tentative: number; candidate: number };
  retrievals: number;
  degraded: number;
  /** Retrievals that began with the same block as the one before in their chat. */
  frozen: number;
  /** On average, for each retrieval. */
  tokens: number;
  recall_ms?: { p50: number; p95: number; p99: number } | null;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Millionths of the currency in which the prices were given. */
  cost_micros: number;
}

export interface Figures {
  days: readonly Day[];
  domains: readonly { domain?: string | null; memories: number }[];
}

/** The figures of the last days. They follow every operation. */
export function useFigures(days: Range) {
  const quipu = useQuipu();
  return useQuery({
    // What is under `stats` is read again when something was written.
    queryKey: ["stats", "insights", days],
    queryFn: async ({ signal }): Promise<Figures> =>
      (await quipu.send("GET", "/api/insights", { query: { days }, signal })).json(),
    placeholderData: keepPreviousData,
  });
}
