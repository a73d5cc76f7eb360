/**
 * The memory as it was known on a day: the versions that were known and valid then. Versions that are no longer
 * known are read from the histories of the memories that ever changed; where those are too many, each day
 * is read as a list of that day.
 */
import { useQuery } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useMemo } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { usePast } from "./past.ts";
import { hasChanged, type KnownVersion, knownAt, usedIn } from "./versions.ts";

/** Above this number of changed memories their histories are not read. */
const MAX_HISTORIES = 300;
const PARALLEL_READS = 6;
export interface KnownPast {
  /** Every version that was ever in use; absent until it is read, or if it is too much to read at once. */
  versions: readonly KnownVersion[] | undefined;
  /** The memories of the chosen day, or of the last day that was read. */
  memories: readonly MemoryView[];
  pending: boolean;
  error: unknown;
}

/** What was known and true at an instant; nothing is read without one, except the versions. */
export function useKnownPast(all: readonly MemoryView[], at: number | undefined): KnownPast {
  const lukasa = useLukasa();
  const changed = useMemo(() => all.filter(hasChanged), [all]);
  const few = changed.length <= MAX_HISTORIES;
  const histories = useQuery({
    queryKey: ["memory", "histories", changed.map((memory) => memory.version_id).join()],
    enabled: few && changed.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const found: MemoryView[][] = changed.map(() => []);
      let next = 0;
      const read = async () => {
        for (let place = next++; place < changed.length; place = next++) {
          const id = changed[place]?.id ?? "";
          const history = lukasa.memories.history(id, { limit: 200 }, { signal });
          found[place] = await history.all().catch((error) => {
            // Erased in the meantime.
            if ((error as { status?: number }).status === 404) return [];
            throw error;
          });
        }
      };
      await Promise.all(Array.from({ length: PARALLEL_READS }, read));
      return found.flat();
    },
  });
  const earlier = changed.length === 0 ? NONE : histories.data;
  const versions = useMemo(() => {
    if (!few || !earlier) return undefined;
    const rest = all.filter((memory) => !hasChanged(memory));
    return [...rest, ...earlier].flatMap((one) => usedIn(one) ?? []);
  }, [all, few, earlier]);
  const when = at === undefined || few ? undefined : new Date(at).toISOString();
  const listed = usePast(when ? { as_of: when, known_at: when } : undefined);
  const memories = useMemo(() => {
    if (at === undefined) return NONE;
    if (versions) return knownAt(versions, at);
    return listed.all.filter((memory) => memory.status === "active");
  }, [at, versions, listed.all]);
  return {
    versions,
    memories,
    pending: few ? versions === undefined : listed.isFetching,
    error: few ? histories.error : listed.error,
  };
}

const NONE: readonly MemoryView[] = [];
