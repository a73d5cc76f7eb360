/**
 * Live updates: the server streams every operation, and the queries that it affects are refetched. A page
 * that needs the events themselves uses `useLiveEvent`.
 */

import { useQueryClient } from "@tanstack/react-query";
import type { LiveEvent } from "lukasa-client";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { collector } from "../base/collector.ts";
import { LiveContext, type LiveState } from "../base/live.ts";
import { useLukasa } from "../base/sign-in.ts";
import { firstPosition, forgetHome } from "../data/home.ts";
import { refreshAllowed, refreshMemories } from "../data/store.ts";

/** Query keys to invalidate after any operation, besides the memories that it names. */
const TOUCHED = [
  "review",
  "portraits",
  "stats",
  "operations",
  "state",
  "sessions",
  "domains",
  "policy",
];
const PROBE_INTERVAL_MS = 10_000;

export function LiveProvider({ children }: { children: ReactNode }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const listeners = useRef(new Set<(event: LiveEvent) => void>());
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    // The client reconnects silently; a probe when the stream drops, and now and then, shows whether the server
    // is ready.
    const probe = async () => {
      const ready = await lukasa.ready({ signal }).catch(() => false);
      const answers = ready || (await serverAnswers(signal));
      if (!signal.aborted) setState(ready ? "on" : answers ? "off" : "unreachable");
    };
    const timer = setInterval(() => {
      forgetHome(lukasa);
      void probe();
    }, PROBE_INTERVAL_MS);
    // A batch of writes has an event for each of them.
    const refresh = collector<string[]>(async (memories) => {
      await refreshAllowed();
      for (const root of TOUCHED) void queries.invalidateQueries({ queryKey: [root] });
      await refreshMemories(queries, lukasa, [...new Set(memories.flat())]);
    });
    const listen = async () => {
      // The stream continues after what the first screen shows, and misses nothing.
      const after = await firstPosition(lukasa);
      if (after === undefined) await probe();
      else if (!signal.aborted) setState("on");
      const onDisconnect = () => {
        forgetHome(lukasa);
        void probe();
      };
      for await (const event of lukasa.events({ after, signal, onDisconnect })) {
        forgetHome(lukasa);
        refresh(event.operation.memory_ids);
        for (const listener of listeners.current) listener(event);
      }
    };
    void listen().catch(() => {
      if (!signal.aborted) setState("off");
    });
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [lukasa, queries]);
  const live = useMemo(() => ({ state, listeners: listeners.current }), [state]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Whether the server answers at all, also without its database. */
function serverAnswers(signal: AbortSignal): Promise<boolean> {
  return fetch("/healthz", { signal }).then(
    () => true,
    () => false,
  );
}
