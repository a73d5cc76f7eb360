/** Whether an assistant is connected: the latest call of one that the server has recorded. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { type AssistantCall, latestCall } from "./latest-call.ts";

const POLL_MS = 4_000;
const MAX_OPERATIONS = 50;

/** The latest call of an assistant; polled while a component that uses it is shown. */
export function useLatestCall(): AssistantCall | undefined {
  const lukasa = useLukasa();
  const { user, local, admin } = useSignIn();
  const latest = useQuery({
    queryKey: ["operations", "assistants", user],
    queryFn: async ({ signal }) => {
      const operations = (
        await lukasa.operations.list({ limit: MAX_OPERATIONS }, { signal }).page()
      ).data;
      // Only operators see keys, and only keys show calls that changed nothing.
      const keys = admin && !local ? await lukasa.keys.list({ signal }) : [];
      return latestCall(operations, keys, user) ?? null;
    },
    refetchInterval: POLL_MS,
  });
  return latest.data ?? undefined;
}
