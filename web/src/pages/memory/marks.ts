/**
 * Focus, selection and editing state of the rows. It is kept outside of React state so that a key press
 * renders two rows and not the page, which matters with ten thousand memories.
 */
import { createContext, type KeyboardEvent, useContext, useSyncExternalStore } from "react";

const PAGE_STEP = 10;

export class Marks {
  current: string | undefined;
  editing: string | undefined;
  /** The memory that the panel shows. */
  opened: string | undefined;
  selected: ReadonlySet<string> = new Set();
  /** The row where a range begins. It does not follow the focus, which a click moves first. */
  anchor: string | undefined;
  /** The row that takes the focus once it is rendered. */
  wanted: string | undefined;
  /** Scrolls a row into view; set by the view. */
  reveal: (id: string) => void = () => {};
  /** The ids that the view shows, in the order of J and K. */
  order: readonly string[] = [];
  /** Rows that are being removed, so that a quick second key press does not remove them again. */
  private leaving = new Set<string>();
  private readonly listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** Makes this row the current one; with `focus` it also takes the focus. */
  go(id: string | undefined, focus = true): void {
    this.current = id;
    if (focus && id !== undefined) {
      this.wanted = id;
      this.reveal(id);
    }
    this.notify();
  }

  /** Moves the focus by a number of rows; with `selecting`, all rows on the way are selected. */
  move(by: number, selecting = false): void {
    const at = this.current === undefined ? -1 : this.order.indexOf(this.current);
    const began = at === -1 ? (by > 0 ? -1 : 0) : at;
    const next = Math.min(this.order.length - 1, Math.max(0, began + by));
    const target = this.order[next];
    if (selecting && target !== undefined) this.extend(target, true);
    else {
      this.anchor = target;
      this.go(target);
    }
  }

  /** Marks a row as being removed and moves on to the next; false if it is being removed already. */
  leave(id: string): boolean {
    if (this.leaving.has(id)) return false;
    this.leaving.add(id);
    const at = this.order.indexOf(id);
    const stays = (one: string) => !this.leaving.has(one);
    this.go(this.order.slice(at + 1).find(stays) ?? this.order.slice(0, at).findLast(stays));
    return true;
  }

  /** List keys: arrows, page up and down, home and end, each with Shift to select; select all. */
  press = (event: KeyboardEvent): void => {
    const { key, metaKey, ctrlKey, altKey } = event;
    const all = this.order.length;
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: PAGE_STEP,
      PageUp: -PAGE_STEP,
      Home: -all,
      End: all,
    };
    if ((metaKey || ctrlKey) && key === "a") this.select(this.order);
    else if (metaKey || ctrlKey || altKey || moves[key] === undefined) return;
    else this.move(moves[key], event.shiftKey);
    event.preventDefault();
  };

  edit(id: string | undefined): void {
    const was = this.editing;
    this.editing = id;
    this.notify();
    // After editing, the focus returns to the row.
    if (id === undefined && was !== undefined) this.go(was);
  }

  show(id: string | undefined): void {
    this.opened = id;
    this.notify();
  }

  toggle(id: string): void {
    const selected = new Set(this.selected);
    if (!selected.delete(id)) selected.add(id);
    this.anchor = id;
    this.select(selected);
  }

  /** Selects all rows from the start of the range to this one, and makes it current. */
  extend(id: string, focus = false): void {
    this.anchor ??= this.current ?? id;
    const to = this.order.indexOf(id);
    if (to < 0) return;
    const start = this.order.indexOf(this.anchor);
    const from = start < 0 ? to : start;
    const range = this.order.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.select([...this.selected, ...range]);
    this.go(id, focus);
  }

  select(ids: Iterable<string>): void {
    this.selected = new Set(ids);
    if (this.selected.size === 0) this.anchor = undefined;
    this.notify();
  }

  /**
   * Updates the shown rows. The focus stays on its row, or moves to the one that took its place.
   */
  follow(order: readonly string[], hadFocus: boolean): void {
    const was = this.order;
    this.order = order;
    this.leaving = new Set();
    if (this.current !== undefined && !order.includes(this.current)) {
      const at = was.indexOf(this.current);
      const next = order[Math.min(Math.max(0, at), order.length - 1)];
      this.go(next, hadFocus);
    } else if (this.current === undefined) this.go(order[0], false);
    if (this.selected.size === 0) return;
    const there = new Set(order);
    const left = [...this.selected].filter((id) => there.has(id));
    if (left.length < this.selected.size) this.select(left);
  }
}

export const MarksContext = createContext(new Marks());

export function useMarks(): Marks {
  return useContext(MarksContext);
}

/** A value derived from the marks; renders only when it changes. */
export function useMark<T>(read: (marks: Marks) => T): T {
  const marks = useMarks();
  return useSyncExternalStore(marks.subscribe, () => read(marks));
}
