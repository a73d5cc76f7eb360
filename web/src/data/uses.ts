/** How often memories were used in answers. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";

/** Pages of uses that are read at most: two thousand uses, the latest first. */
const MAX_USE_PAGES = 10;

/** How many answers used each memory. */
export function useUseCounts(wanted: boolean) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["memories", "uses"],
    enabled: wanted,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const answers = new Map<string, Set<string>>();
      let pages = 0;
      for await (const page of lukasa.memories.usage({ limit: 200 }, { signal }).pages()) {
        for (const { type, memory_id, turn_id } of page.data) {
          if (type === "retrieved" || !turn_id) continue;
          answers.set(memory_id, (answers.get(memory_id) ?? new Set()).add(turn_id));
        }
        pages += 1;
        if (pages >= MAX_USE_PAGES) break;
      }
      return new Map([...answers].map(([id, turns]) => [id, turns.size]));
    },
  });
}
