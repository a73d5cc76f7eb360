/** Board of memories by domain. Left and right move between columns, up and down within one. */

import { useVirtualizer } from "@tanstack/react-virtual";
import type { MemoryView } from "lukasa-client";
import {
  type KeyboardEvent,
  memo,
  useCallback,
  useContext,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";
import { formatCount } from "../../base/numbers.ts";
import { confirmedAt } from "../../data/confirmed.ts";
import { type Group, sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { SuggestAreas } from "../../features/filing/suggest-areas.tsx";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { AreaDot } from "../../features/memory/area-dot.tsx";
import { Certainty, Force, SourceIcon } from "../../features/memory/badges.tsx";
import { Highlighted } from "../../features/memory/highlight.tsx";
import { DomainNames } from "../../features/memory/labels.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Time } from "../../ui/time.tsx";
import { useMark, useMarks } from "./marks.ts";
import { groupsOf } from "./memory-set.ts";
import { Selected, useTakesFocus } from "./row.tsx";
import { RowEdit } from "./row-edit.tsx";

export function Board({
  memories,
  disputed,
  sorts,
  onOpen,
}: {
  memories: readonly MemoryView[];
  /** The memories that are contradicted, and wait for the user's answer. */
  disputed: ReadonlySet<string>;
  /** Whether areas can be suggested for the memories without one. */
  sorts: boolean;
  onOpen: OpenMemory;
}) {
  const marks = useMarks();
  const columns = useMemo(() => groupsOf(memories, "domain"), [memories]);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const order = columns.flatMap((column) => column.memories.map((memory) => memory.id));
    const focus = document.activeElement;
    marks.follow(order, focus === document.body || (place.current?.contains(focus) ?? false));
  }, [marks, columns]);
  const press = useCallback(
    (event: KeyboardEvent) => {
      const sideways = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (sideways === undefined) return marks.press(event);
      event.preventDefault();
      const onward = document.documentElement.dir === "rtl" ? -sideways : sideways;
      marks.go(neighbourOf(columns, marks.current, onward) ?? marks.current);
    },
    [marks, columns],
  );
  return (
    <div
      ref={place}
      className="flex min-h-0 flex-1 gap-3 overflow-x-auto overflow-y-hidden border-t bg-sunken p-3 sm:px-6"
    >
      {columns.map((column) => (
        <Column
          key={column.name}
          column={column}
          disputed={disputed}
          sorts={sorts}
          onOpen={onOpen}
          onPress={press}
        />
      ))}
    </div>
  );
}

/** The memory at the same position in the next column, or the last one there. */
function neighbourOf(columns: readonly Group[], id: string | undefined, by: number) {
  const at = columns.findIndex((column) => column.memories.some((one) => one.id === id));
  const height = columns[at]?.memories.findIndex((one) => one.id === id) ?? 0;
  const next = columns[at + by]?.memories;
  return next?.[Math.min(height, next.length - 1)]?.id;
}

type Press = (event: KeyboardEvent) => void;

function Column({
  column,
  disputed,
  sorts,
  onOpen,
  onPress,
}: {
  column: Group;
  disputed: ReadonlySet<string>;
  sorts: boolean;
  onOpen: OpenMemory;
  onPress: Press;
}) {
  const marks = useMarks();
  const names = useContext(DomainNames);
  const scroller = useRef<HTMLUListElement>(null);
  const name = column.name ? (names.get(column.name) ?? column.name) : t("memory.noDomain");
  const virtual = useVirtualizer({
    count: column.memories.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (at) => column.memories[at]?.id ?? at,
    overscan: 4,
  });
  // Each column knows its own cards; the column of the card scrolls to it.
  useLayoutEffect(() => {
    const before = marks.reveal;
    marks.reveal = (id) => {
      const at = column.memories.findIndex((memory) => memory.id === id);
      if (at === -1) return before(id);
      virtual.scrollToIndex(at, { align: "auto" });
      scroller.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    return () => {
      marks.reveal = before;
    };
  }, [marks, column, virtual]);
  return (
    <section
      aria-label={name}
      className="flex w-64 max-w-96 shrink-0 flex-col rounded-card border bg-canvas max-sm:w-[85vw] sm:grow sm:basis-64"
    >
      <header className="flex min-h-11 items-center gap-2 border-b px-3 py-1.5">
        <AreaDot domain={column.name} />
        <h2 className="truncate font-semibold">
          <bdi>{name}</bdi>
        </h2>
        <span className="flex-1 text-meta text-muted tabular-nums">
          {formatCount(column.memories.length)}
        </span>
        {sorts && !column.name && <SuggestAreas memories={column.memories} />}
      </header>
      <ul ref={scroller} className="relative min-h-0 flex-1 overflow-y-auto">
        <li aria-hidden style={{ height: virtual.getTotalSize() }} />
        {virtual.getVirtualItems().map((place) => {
          const memory = column.memories[place.index];
          if (!memory) return null;
          return (
            <li
              key={place.key}
              data-index={place.index}
              ref={virtual.measureElement}
              className="absolute inset-x-0 top-0 px-2 pt-2"
              style={{ transform: `translateY(${place.start}px)` }}
            >
              <MemoryCard
                memory={memory}
                disputed={disputed.has(memory.id)}
                onOpen={onOpen}
                onPress={onPress}
              />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const MemoryCard = memo(function MemoryCard({
  memory,
  disputed,
  onOpen,
  onPress,
}: {
  memory: MemoryView;
  disputed: boolean;
  onOpen: OpenMemory;
  onPress: Press;
}) {
  const marks = useMarks();
  const current = useMark((all) => all.current === memory.id);
  const selected = useMark((all) => all.selected.has(memory.id));
  const editing = useMark((all) => all.editing === memory.id);
  const opened = useMark((all) => all.opened === memory.id);
  const place = useTakesFocus<HTMLButtonElement>(memory.id);
  if (editing) {
    return (
      <div className="rounded-control border bg-surface p-2.5">
        <RowEdit memory={memory} />
      </div>
    );
  }
  return (
    <button
      ref={place}
      type="button"
      tabIndex={current ? 0 : -1}
      data-memory={memory.id}
      aria-current={opened || undefined}
      onFocus={() => !current && marks.go(memory.id, false)}
      onKeyDown={onPress}
      onClick={(event) => {
        if (event.shiftKey) marks.extend(memory.id);
        else if (event.metaKey || event.ctrlKey) marks.toggle(memory.id);
        else onOpen(memory);
      }}
      className={classes(
        "flex w-full flex-col gap-2 rounded-control border bg-surface p-2.5 text-start -outline-offset-1 hover:border-strong-line/60",
        selected && "border-accent bg-accent-soft",
        opened && !selected && "border-accent",
      )}
    >
      <span dir="auto" className="line-clamp-3 w-full">
        <Highlighted text={shownContent(memory)} />
      </span>
      <span className="flex w-full flex-wrap items-center gap-2 text-fine text-muted">
        {selected ? <Selected /> : <Force force={memory.force} />}
        {disputed && <Badge tone="warn">{t("memory.disputed")}</Badge>}
        <Certainty memory={memory} exceptions />
        <SourceIcon source={sourceOf(memory)} />
        <span className="ms-auto">
          <Time at={confirmedAt(memory) ?? memory.updated_at} />
        </span>
      </span>
    </button>
  );
});
