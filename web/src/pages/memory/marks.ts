/**
 * Which memory has the focus, which are selected and which is being edited. It stands beside React's state
 * so that a key press draws two rows anew and not the page: with ten thousand memories that is the
 * difference between a frame and a wait.
 */
import { createContext, type KeyboardEvent, useContext, useSyncExternalStore } from "react";

const PAGE = 10;

export class Marks {
  current: string | undefined;
  editing: string | undefined;
  /** The one that the panel shows. */
  opened: string | undefined;
  selected: ReadonlySet<string> = new Set();
  /** The row that is to take the focus once it is drawn. */
  wanted: string | undefined;
  /** The view's own way to bring a row onto the screen. */
  reveal: (id: string) => void = () => {};
  /** The ids that the view shows, in the order in which J and K go through them. */
  order: readonly string[] = [];
  /** Rows that have just been sent away; whoever is quick must not send them away twice. */
  private leaving = new Set<string>();
  private readonly listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  /** Makes this row the one that keys act on; with `focus` it also takes the focus. */
  go(id: string | undefined, focus = true): void {
    this.current = id;
    if (focus && id !== undefined) {
      this.wanted = id;
      this.reveal(id);
    }
    this.tell();
  }

  /** So many rows on from where the focus is. */
  move(by: number): void {
    const at = this.current === undefined ? -1 : this.order.indexOf(this.current);
    const began = at === -1 ? (by > 0 ? -1 : 0) : at;
    const next = Math.min(this.order.length - 1, Math.max(0, began + by));
    this.go(this.order[next]);
  }

  /** This row is about to go: on to the one that takes its place, or false if it is going already. */
  leave(id: string): boolean {
    if (this.leaving.has(id)) return false;
    this.leaving.add(id);
    const at = this.order.indexOf(id);
    const stays = (one: string) => !this.leaving.has(one);
    this.go(this.order.slice(at + 1).find(stays) ?? this.order.slice(0, at).findLast(stays));
    return true;
  }

  /** The keys that every list has: arrows, a page, the ends, and all. */
  press = (event: KeyboardEvent): void => {
    const { key, metaKey, ctrlKey, altKey } = event;
    const all = this.order.length;
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: PAGE,
      PageUp: -PAGE,
      Home: -all,
      End: all,
    };
    if ((metaKey || ctrlKey) && key === "a") this.select(this.order);
    else if (metaKey || ctrlKey || altKey || moves[key] === undefined) return;
    else this.move(moves[key]);
    event.preventDefault();
  };

  edit(id: string | undefined): void {
    const was = this.editing;
    this.editing = id;
    this.tell();
    // Whoever has finished editing goes on from that row.
    if (id === undefined && was !== undefined) this.go(was);
  }

  show(id: string | undefined): void {
    this.opened = id;
    this.tell();
  }

  toggle(id: string): void {
    const selected = new Set(this.selected);
    if (!selected.delete(id)) selected.add(id);
    this.select(selected);
  }

  select(ids: Iterable<string>): void {
    this.selected = new Set(ids);
    this.tell();
  }

  /**
   * The view shows other rows now. The focus stays where it was: on the row, or if that is gone on the one
   * that took its place.
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

/** One thing that the marks say, drawn anew only when it is different. */
export function useMark<T>(read: (marks: Marks) => T): T {
  const marks = useMarks();
  return useSyncExternalStore(marks.subscribe, () => read(marks));
}
