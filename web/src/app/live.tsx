/**
 * Keeps what is on the screen true: the server tells of every operation as it happens, and what that
 * touches is read again. A page lists what it wants to be told of with `useLiveEvent`.
 */
import type { LiveEvent } from "@quipu/client";
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { refreshMemories } from "../data/memories.ts";
import { useQuipu } from "./session.tsx";

export type LiveState = "connecting" | "on" | "off";

interface Live {
  state: LiveState;
  listeners: Set<(event: LiveEvent) => void>;
}

const Current = createContext<Live | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const quipu = useQuipu();
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const listeners = useRef(new Set<(event: LiveEvent) => void>());
  useEffect(() => {
    const hangUp = new AbortController();
    // The client connects again by itself, silently; the page's own probe says how it stands.
    const probe = async () => {
      const ready = await quipu.ready({ signal: hangUp.signal }).catch(() => false);
      if (!hangUp.signal.aborted) setState(ready ? "on" : "off");
    };
    void probe();
    const timer = setInterval(probe, 10_000);
    void (async () => {
      try {
        for await (const event of quipu.events({ signal: hangUp.signal })) {
          setState("on");
          void refreshMemories(queries, quipu, event.operation.memory_ids);
          for (const root of ["review", "portraits", "stats", "operations", "state"]) {
            void queries.invalidateQueries({ queryKey: [root] });
          }
          for (const listener of listeners.current) listener(event);
        }
      } catch {
        if (!hangUp.signal.aborted) setState("off");
      }
    })();
    return () => {
      clearInterval(timer);
      hangUp.abort();
    };
  }, [quipu, queries]);
  return <Current value={{ state, listeners: listeners.current }}>{children}</Current>;
}

export function useLive(): LiveState {
  return useContext(Current)?.state ?? "connecting";
}

/** Calls back for every operation, for as long as the component is there. */
export function useLiveEvent(listener: (event: LiveEvent) => void): void {
  const live = useContext(Current);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    if (!live) return;
    const tell = (event: LiveEvent) => latest.current(event);
    live.listeners.add(tell);
    return () => {
      live.listeners.delete(tell);
    };
  }, [live]);
}
