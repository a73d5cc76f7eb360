/**
 * Keeps what is on the screen true: the server tells of every operation as it happens, and what that
 * touches is read again. A page that wants to be told itself uses `useLiveEvent`.
 */

import { useQueryClient } from "@tanstack/react-query";
import { eventStream, type LiveEvent, type Lukasa } from "lukasa-client";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { refreshMemories } from "../data/store.ts";
import { useLukasa } from "./sign-in.tsx";

export type LiveState = "connecting" | "on" | "off";

/** What may be different after any operation, besides the memories that it names. */
const TOUCHED = ["review", "portraits", "stats", "operations", "state", "sessions", "domains"];
const PROBE = 10_000;

interface Live {
  state: LiveState;
  listeners: Set<(event: LiveEvent) => void>;
}

const Current = createContext<Live | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const listeners = useRef(new Set<(event: LiveEvent) => void>());
  useEffect(() => {
    const hangUp = new AbortController();
    const { signal } = hangUp;
    // The client connects again by itself, silently; asking now and then says how it stands.
    const probe = async () => {
      const ready = await lukasa.ready({ signal }).catch(() => false);
      if (!signal.aborted) setState(ready ? "on" : "off");
    };
    const timer = setInterval(probe, PROBE);
    const listen = async () => {
      const after = await placeOfNow(lukasa, signal);
      await probe();
      for await (const event of lukasa.events({ after, signal })) {
        void refreshMemories(queries, lukasa, event.operation.memory_ids);
        for (const root of TOUCHED) void queries.invalidateQueries({ queryKey: [root] });
        for (const listener of listeners.current) listener(event);
      }
    };
    void listen().catch(() => {
      if (!signal.aborted) setState("off");
    });
    return () => {
      clearInterval(timer);
      hangUp.abort();
    };
  }, [lukasa, queries]);
  const live = useMemo(() => ({ state, listeners: listeners.current }), [state]);
  return <Current value={live}>{children}</Current>;
}

/** Where the stream of events stands now. Whatever happens after this, events begin from here. */
async function placeOfNow(lukasa: Lukasa, signal: AbortSignal): Promise<string | undefined> {
  const headers = { accept: "text/event-stream" };
  // A server that is away just now is asked again by the stream itself.
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

export function useLive(): LiveState {
  return useContext(Current)?.state ?? "connecting";
}

/** Calls back for every operation, for as long as the component is there. */
export function useLiveEvent(listener: (event: LiveEvent) => void): void {
  const live = useContext(Current);
  const latest = useRef(listener);
  latest.current = listener;
  const listeners = live?.listeners;
  useEffect(() => {
    const tell = (event: LiveEvent) => latest.current(event);
    listeners?.add(tell);
    return () => {
      listeners?.delete(tell);
    };
  }, [listeners]);
}
