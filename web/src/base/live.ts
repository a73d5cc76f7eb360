/** Live updates: the state of the connection, and the events that the server streams. */

import type { LiveEvent } from "lukasa-client";
import { createContext, useContext, useEffect, useRef } from "react";

/** `off`: the server answers, but its database does not. `unreachable`: the server does not answer. */
export type LiveState = "connecting" | "on" | "off" | "unreachable";

export interface Live {
  state: LiveState;
  listeners: Set<(event: LiveEvent) => void>;
}

/** Set by `LiveProvider` of the app. */
export const LiveContext = createContext<Live | null>(null);

/** Whether the server can be reached. */
export function useLive(): LiveState {
  return useContext(LiveContext)?.state ?? "connecting";
}

/** Calls the listener for every operation while the component is mounted. */
export function useLiveEvent(listener: (event: LiveEvent) => void): void {
  const live = useContext(LiveContext);
  const latest = useRef(listener);
  latest.current = listener;
  const listeners = live?.listeners;
  useEffect(() => {
    const forward = (event: LiveEvent) => latest.current(event);
    listeners?.add(forward);
    return () => {
      listeners?.delete(forward);
    };
  }, [listeners]);
}
