/** The policy (what may happen without asking), and changing it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { PolicyPatch, PolicyView } from "lukasa-client";
import { useCallback } from "react";
import { showFailure } from "../base/failures.ts";
import { useLukasa } from "../base/sign-in.ts";
import { showToast } from "../base/toasts.ts";
import { t } from "../i18n/index.ts";
import { readPolicy } from "./home.ts";
import { takenBack } from "./policy-change.ts";
import { sendWithUndo } from "./writes.ts";

const KEY = ["policy"];

/** The parts of the policy in force that the console shows. */
export interface EffectivePolicy {
  preset: string;
  admission: string;
  domains: Record<string, string>;
  extract: string;
  keep_turns: string;
  /** The confidence from which an inferred memory is put into prompts. */
  inject_confidence: number;
  idle_close_minutes: number | null;
  titles: boolean;
  /** Nothing is learned, saved by assistants, or put into prompts. */
  paused?: boolean;
}

export function usePolicy() {
  const lukasa = useLukasa();
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => readPolicy(lukasa, signal) });
}

/** Replaces the user's policy; Undo takes the change back, if it still stands. */
export function useUpdatePolicy(): (patch: PolicyPatch) => Promise<void> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(
    async (patch) => {
      const before = queries.getQueryData<PolicyView>(KEY)?.user ?? {};
      const undo = async (): Promise<void> => {
        try {
          const now = await lukasa.policy.get();
          const policy = takenBack(before, patch, now.user);
          if (policy) queries.setQueryData(KEY, await lukasa.policy.put(policy));
          else queries.setQueryData(KEY, now);
          showToast({ text: t(policy ? "shell.undo.undone" : "settings.changedSince") });
        } catch (error) {
          showFailure(error, { what: t("settings.failed"), retry: undo });
        }
      };
      const put = async (policy: PolicyPatch): Promise<boolean> => {
        try {
          queries.setQueryData(KEY, await lukasa.policy.put(policy));
          return true;
        } catch (error) {
          showFailure(error, { what: t("settings.failed"), retry: () => put(policy) });
          return false;
        }
      };
      await sendWithUndo(async () =>
        (await put(patch)) ? { text: t("settings.saved"), undo } : undefined,
      );
    },
    [lukasa, queries],
  );
}
