import { useSyncExternalStore } from "react";

/** Below this width, sheets at the bottom take the place of side panels and inline forms. */
const query = matchMedia("(width < 40rem)");

export function isPhone(): boolean {
  return query.matches;
}

/** Whether the screen is that of a phone, now and after it is turned. */
export function usePhone(): boolean {
  return useSyncExternalStore(subscribe, isPhone);
}

function subscribe(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}
