/** How often memories were used in recent answers. */
import { useQuery } from "@tanstack/react-query";
import type { UsageView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { countAnswers } from "./answer-uses.ts";

/** Pages that are read at most: two thousand records of use, the latest first. Older uses are not counted. */
const MAX_USE_PAGES = 10;

/** How many recent answers used each memory. */
export function useUseCounts(wanted: boolean) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memories", "uses"],
    enabled: wanted,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const records: UsageView[] = [];
      let pages = 0;
      for await (const page of lukasa.memories.usage({ limit: 200 }, { signal }).pages()) {
        records.push(...page.data);
        pages += 1;
        if (pages >= MAX_USE_PAGES) break;
      }
      return countAnswers(records);
    },
  });
}
