/** The queue of toasts: any layer may add one, and `ToastViewport` shows them. */
import { useSyncExternalStore } from "react";

export interface Toast {
  id: number;
  text: string;
  /** The text it is about, written by the user. */
  about?: string;
  tone?: "bad";
  action?: ToastAction;
  /** A second action, if the toast is a question. It then stays until answered or closed. */
  other?: ToastAction;
}

export interface ToastAction {
  label: string;
  shortcut?: string;
  run: () => void;
}

const MAX_TOASTS = 3;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function update(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function showToast(toast: Omit<Toast, "id">): number {
  last += 1;
  update([...toasts, { ...toast, id: last }].slice(-MAX_TOASTS));
  return last;
}

export function dropToast(id: number): void {
  update(toasts.filter((toast) => toast.id !== id));
}

/** The toasts that are shown now. */
export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => toasts);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
