/**
 * Keyboard shortcuts. A page registers its own with `useShortcuts`; the sheet and the commands of the palette
 * are built from the same registry.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { preferences } from "./preferences.ts";

export interface Shortcut {
  /** `e`, `?`, `g m` one after the other, `mod+k` together, or a name such as `Enter`. */
  keys: string;
  label: string;
  run: () => void;
  /** Also while a dialog is open. */
  inDialogs?: boolean;
  /** Not listed in the palette: the command makes no sense there. */
  quiet?: boolean;
  /** First in the palette, so that Enter alone runs it. */
  first?: boolean;
}

interface Registered {
  scope: string;
  shortcuts: readonly Shortcut[];
}

let registered: readonly Registered[] = [];
const listeners = new Set<() => void>();
let pending = "";
let pendingSince = 0;
const SEQUENCE_TIMEOUT_MS = 1_200;

function change(next: readonly Registered[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

/** Registers shortcuts while the component is mounted. The latest registration takes precedence. */
export function useShortcuts(scope: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const shape = shortcuts.map((one) => `${one.keys} ${one.label}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `run` is read when a key is pressed
  useEffect(() => {
    const entry: Registered = {
      scope,
      shortcuts: latest.current.map((one, at) => ({
        ...one,
        run: () => latest.current[at]?.run(),
      })),
    };
    change([...registered, entry]);
    return () => change(registered.filter((other) => other !== entry));
  }, [scope, shape]);
}

/** The active shortcuts, for the sheet and the palette. */
export function useActiveShortcuts(): readonly Registered[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => registered,
  );
}

/** The name of a key press, as `keys` writes it. */
export function nameOf(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">,
): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.altKey) return `alt+${key}`;
  return event.ctrlKey || event.metaKey ? `mod+${key}` : key;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"))
  );
}

function find(keys: string, dialog: boolean): Shortcut | undefined {
  for (const { shortcuts } of [...registered].reverse()) {
    const found = shortcuts.find(
      (one) => one.keys.toLowerCase() === keys.toLowerCase() && (!dialog || one.inDialogs),
    );
    if (found) return found;
  }
  return undefined;
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.repeat) return;
  const name = nameOf(event);
  const together = name.startsWith("mod+");
  if (!together && (!preferences().singleKeys || isTyping(event.target))) return;
  // A focused button handles these keys itself.
  if ((name === "Enter" || name === " ") && event.target instanceof HTMLButtonElement) return;
  const dialog =
    document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
  const sequence =
    pending && Date.now() - pendingSince < SEQUENCE_TIMEOUT_MS ? `${pending} ${name}` : "";
  pending = "";
  const found = (sequence && find(sequence, dialog)) || find(name, dialog);
  if (found) {
    event.preventDefault();
    found.run();
    return;
  }
  const begins = registered.some(({ shortcuts }) =>
    shortcuts.some((one) => one.keys.startsWith(`${name} `)),
  );
  if (begins && !dialog) {
    pending = name;
    pendingSince = Date.now();
  }
}

/** Listens for key presses of the whole page; used once, in the shell. */
export function useShortcutListener(): void {
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
