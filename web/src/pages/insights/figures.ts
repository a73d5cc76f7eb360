/** Daily counts of the server, in UTC. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { InsightDay, InsightsView } from "lukasa-client";
import { useLukasa } from "../../base/sign-in.ts";
import type { Range } from "./params.ts";

export type Day = InsightDay;
export type Figures = InsightsView;

/** The counts of the last days, refetched after every operation. */
export function useFigures(days: Range) {
  const lukasa = useLukasa();
  return useQuery({
    // Queries under `stats` are invalidated after every write.
    queryKey: ["stats", "insights", days],
    queryFn: ({ signal }) => lukasa.insights(days, { signal }),
    placeholderData: keepPreviousData,
  });
}
