/**
 * Live updates: the server streams every operation, and the queries that it affects are refetched. A page
 * that needs the events themselves uses `useLiveEvent`.
 */

import { useQueryClient } from "@tanstack/react-query";
import { eventStream, type LiveEvent, type Lukasa } from "lukasa-client";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { collector } from "../base/collector.ts";
import { LiveContext, type LiveState } from "../base/live.ts";
import { useLukasa } from "../base/sign-in.ts";
import { refreshAllowed, refreshMemories } from "../data/store.ts";

/** Query keys to invalidate after any operation, besides the memories that it names. */
const TOUCHED = ["review", "portraits", "stats", "operations", "state", "sessions", "domains"];
const PROBE_INTERVAL_MS = 10_000;

export function LiveProvider({ children }: { children: ReactNode }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const listeners = useRef(new Set<(event: LiveEvent) => void>());
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    // The client reconnects silently; a periodic probe shows whether the server is ready.
    const probe = async () => {
      const ready = await lukasa.ready({ signal }).catch(() => false);
      const answers = ready || (await serverAnswers(signal));
      if (!signal.aborted) setState(ready ? "on" : answers ? "off" : "unreachable");
    };
    const timer = setInterval(probe, PROBE_INTERVAL_MS);
    // A batch of writes has an event for each of them.
    const refresh = collector<string[]>(async (memories) => {
      await refreshAllowed();
      for (const root of TOUCHED) void queries.invalidateQueries({ queryKey: [root] });
      await refreshMemories(queries, lukasa, [...new Set(memories.flat())]);
    });
    const listen = async () => {
      const after = await currentEventId(lukasa, signal);
      await probe();
      for await (const event of lukasa.events({ after, signal })) {
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

/** The id of the latest event, so that the stream continues after it and misses nothing. */
async function currentEventId(lukasa: Lukasa, signal: AbortSignal): Promise<string | undefined> {
  const headers = { accept: "text/event-stream" };
  // If the server is unreachable, the stream itself retries.
  const response = await lukasa.open("/api/events", { headers, signal }).catch(() => undefined);
  const reader = response?.body?.getReader();
  if (!reader) return undefined;
  const chunks = async function* () {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  };
  for await (const message of eventStream(chunks())) {
    if (!message.id) continue;
    await reader.cancel();
    return message.id;
  }
  return undefined;
}
