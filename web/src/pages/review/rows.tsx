/** Rows that are chosen one by one or in ranges. Only those that are visible are rendered; one is the tab stop. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { Check } from "lucide-react";
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useMemo,
  useRef,
  useState,
} from "react";
import { classes } from "../../ui/classes.ts";
import { extend, type Selection, toggle } from "./choice.ts";

const ROW_HEIGHT_PX = 49;

export function Rows<T>({
  label,
  entries,
  idOf,
  selection,
  onSelect,
  children,
}: {
  label: string;
  entries: readonly T[];
  idOf: (entry: T) => string;
  selection: Selection;
  onSelect: (selection: Selection) => void;
  /** The content of a row. */
  children: (entry: T) => ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const current = Math.min(at, entries.length - 1);
  const order = useMemo(() => entries.map(idOf), [entries, idOf]);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    getItemKey: (index) => order[index] ?? index,
    overscan: 10,
  });
  const go = (to: number, range: boolean) => {
    const next = Math.max(0, Math.min(entries.length - 1, to));
    const id = order[next];
    if (id === undefined) return;
    setAt(next);
    virtual.scrollToIndex(next, { align: "auto" });
    if (range) onSelect(extend({ anchor: order[current], ...selection }, id, order));
    // The row may be rendered only after the list has scrolled to it.
    requestAnimationFrame(() =>
      scroller.current
        ?.querySelector<HTMLElement>(`[data-entry="${id}"]`)
        ?.focus({ preventScroll: true }),
    );
  };
  const press = (event: KeyboardEvent) => {
    const id = order[current];
    const last = entries.length - 1;
    const to = { ArrowDown: current + 1, j: current + 1, ArrowUp: current - 1, k: current - 1 };
    const ends = { Home: 0, End: last };
    if (event.key in to) go(to[event.key as keyof typeof to], event.shiftKey);
    else if (event.key in ends) go(ends[event.key as keyof typeof ends], event.shiftKey);
    else if (event.key === "x" && id !== undefined) onSelect(toggle(selection, id));
    else return;
    event.preventDefault();
  };
  const click = (event: MouseEvent, index: number, id: string) => {
    setAt(index);
    onSelect(event.shiftKey ? extend(selection, id, order) : toggle(selection, id));
  };
  return (
    <div
      ref={scroller}
      className="max-h-[calc(100dvh-17rem)] min-h-48 overflow-y-auto [overflow-anchor:none]"
    >
      <ul aria-label={label} style={{ height: virtual.getTotalSize() }} className="relative">
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const entry = entries[index];
          const id = order[index];
          if (entry === undefined || id === undefined) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={entries.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
              className="absolute inset-x-0 top-0 border-b"
            >
              <Row
                id={id}
                selected={selection.ids.has(id)}
                tabbable={index === current}
                onKeyDown={press}
                onClick={(event) => click(event, index, id)}
              >
                {children(entry)}
              </Row>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Row({
  id,
  selected,
  tabbable,
  onKeyDown,
  onClick,
  children,
}: {
  id: string;
  selected: boolean;
  tabbable: boolean;
  onKeyDown: (event: KeyboardEvent) => void;
  onClick: (event: MouseEvent) => void;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the whole row is the checkbox
    <button
      type="button"
      role="checkbox"
      aria-checked={selected}
      data-entry={id}
      tabIndex={tabbable ? 0 : -1}
      onKeyDown={onKeyDown}
      onClick={onClick}
      className={classes(
        "flex min-h-12 w-full items-center gap-3 px-4 py-1.5 text-start -outline-offset-2 select-none",
        selected ? "bg-accent-soft" : "hover:bg-hover/70",
      )}
    >
      <span
        aria-hidden
        className={classes(
          "flex size-4 shrink-0 items-center justify-center rounded border",
          selected ? "border-transparent bg-accent text-on-accent" : "border-strong-line",
        )}
      >
        {selected && <Check size={12} />}
      </span>
      {children}
    </button>
  );
}
