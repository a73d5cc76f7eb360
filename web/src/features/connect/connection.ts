/** Whether an assistant is connected: the latest call of one that the server has recorded. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Lukasa } from "lukasa-client";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { useApps } from "../../data/apps.ts";
import { useMemories } from "../../data/memories.ts";
import { type AssistantCall, type Known, latestOf, latestUse, latestWrite } from "./latest-call.ts";

const POLL_MS = 4_000;
const PAGE_SIZE = 200;
/** Older writes than on this many pages are left out. */
const MAX_PAGES = 10;

/** The latest call of an assistant; polled while a component that uses it is shown. */
export function useLatestCall(): { call: AssistantCall | undefined; known: boolean } {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const { user, local, admin } = useSignIn();
  const { signIns, known } = useApps();
  const { byId, complete } = useMemories();
  const queryKey = ["operations", "assistants", user];
  const latest = useQuery({
    queryKey,
    enabled: complete && (local || known),
    queryFn: async ({ signal }) => {
      // Only operators see keys, and only keys show calls that changed nothing.
      const keys = admin && !local ? await lukasa.keys.list({ signal }) : [];
      const before = queries.getQueryData<AssistantCall | null>(queryKey);
      // The whole log is read once; after that only what is new.
      const pages = before === undefined ? MAX_PAGES : 1;
      const write = await readLatestWrite(lukasa, keys, { signIns, byId }, pages, signal);
      return latestOf([write, latestUse(keys, user), before]) ?? null;
    },
    refetchInterval: POLL_MS,
  });
  return { call: latest.data ?? undefined, known: latest.data !== undefined };
}

async function readLatestWrite(
  lukasa: Lukasa,
  keys: Awaited<ReturnType<Lukasa["keys"]["list"]>>,
  known: Known,
  pages: number,
  signal: AbortSignal,
): Promise<AssistantCall | undefined> {
  const log = lukasa.operations.list({ limit: PAGE_SIZE }, { signal });
  let left = pages;
  for await (const page of log.pages()) {
    const write = latestWrite(page.data, keys, known);
    left -= 1;
    if (write || left === 0) return write;
  }
  return undefined;
}
