/** What the server counts: one entry for every day, in UTC. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { InsightDay, InsightsView } from "lukasa-client";
import { useLukasa } from "../../app/sign-in.tsx";
import type { Range } from "./search.ts";

export type Day = InsightDay;
export type Figures = InsightsView;

/** The figures of the last days. They follow every operation. */
export function useFigures(days: Range) {
  const lukasa = useLukasa();
  return useQuery({
    // What is under `stats` is read again when something was written.
    queryKey: ["stats", "insights", days],
    queryFn: ({ signal }) => lukasa.insights(days, { signal }),
    placeholderData: keepPreviousData,
  });
}
