/** What the server counts: one entry for every day, in UTC. */
import type { InsightDay, InsightsView } from "@quipu/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQuipu } from "../../app/sign-in.tsx";
import type { Range } from "./search.ts";

export type Day = InsightDay;
export type Figures = InsightsView;

/** The figures of the last days. They follow every operation. */
export function useFigures(days: Range) {
  const quipu = useQuipu();
  return useQuery({
    // What is under `stats` is read again when something was written.
    queryKey: ["stats", "insights", days],
    queryFn: ({ signal }) => quipu.insights(days, { signal }),
    placeholderData: keepPreviousData,
  });
}
