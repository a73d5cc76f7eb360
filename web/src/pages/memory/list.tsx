/**
 * A virtual list of grouped rows. Both the list (groups are categories or domains) and the timeline (groups
 * are months) use it.
 */

import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import type { MemoryView } from "lukasa-client";
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { usePreferences } from "../../base/preferences.ts";
import type { Group } from "../../data/select.ts";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { AreaDot } from "../../features/memory/area-dot.tsx";
import { numberFormat } from "../../i18n/formats.ts";
import { locale } from "../../i18n/index.ts";
import { useYieldingHeader } from "../../ui/yielding.ts";
import { useMarks } from "./marks.ts";
import { Row, type RowExtra } from "./row.tsx";

/** What the heading of a group shows besides its name and number. */
export interface HeadingExtra {
  /** The area of the group, whose colour the heading has; empty for memories without one. */
  area?: string;
  action?: ReactNode;
}

type Item = { kind: "group"; name: string; count: number } | { kind: "row"; memory: MemoryView };

const NOTHING: RowExtra = {};
const NAME_ONLY: HeadingExtra = {};

export function List({
  label,
  groups,
  nameOf,
  headingOf,
  extraOf,
  onOpen,
  rail,
  top,
  bottom,
}: {
  label: string;
  groups: readonly Group[];
  /** The heading of a group; none if empty. */
  nameOf: (name: string) => string;
  headingOf?: (name: string) => HeadingExtra;
  extraOf?: (memory: MemoryView) => RowExtra;
  onOpen: OpenMemory;
  /** With the vertical line of the timeline. */
  rail?: boolean;
  /** Content before the rows that scrolls with them. */
  top?: ReactNode;
  bottom?: ReactNode;
}) {
  const marks = useMarks();
  const { density } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLUListElement>(null);
  useYieldingHeader(scroller);
  const [margin, setMargin] = useState(0);
  const items = useMemo<Item[]>(
    () =>
      groups.flatMap((group) => [
        ...(nameOf(group.name)
          ? [{ kind: "group", name: group.name, count: group.memories.length } as const]
          : []),
        ...group.memories.map((memory) => ({ kind: "row", memory }) as const),
      ]),
    [groups, nameOf],
  );
  const places = useMemo(() => {
    const found = new Map<string, number>();
    items.forEach((item, at) => {
      if (item.kind === "row") found.set(item.memory.id, at);
    });
    return found;
  }, [items]);
  const height = density === "compact" ? 35 : 45;
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => (items[at]?.kind === "group" ? 44 : height),
    getItemKey: (at) => {
      const item = items[at];
      return item?.kind === "row" ? item.memory.id : `group ${item?.name ?? at}`;
    },
    scrollMargin: margin,
    scrollPaddingStart: 40,
    scrollPaddingEnd: 40,
    overscan: 8,
    // Always render the focused row: it is the list's only tab stop.
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      const at = marks.current === undefined ? undefined : places.get(marks.current);
      if (at === undefined || shown.includes(at)) return shown;
      return [...shown, at].sort((a, b) => a - b);
    },
  });
  // The height of the content before the rows may change, such as when a proposal is answered.
  useLayoutEffect(() => {
    const place = grid.current;
    if (!place) return;
    const measure = () => setMargin(place.offsetTop);
    measure();
    const observer = new ResizeObserver(measure);
    if (place.previousElementSibling) observer.observe(place.previousElementSibling);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    marks.reveal = (id) => {
      const at = places.get(id);
      if (at !== undefined) virtual.scrollToIndex(at, { align: "auto" });
    };
    const focus = document.activeElement;
    const had = focus === document.body || (grid.current?.contains(focus) ?? false);
    marks.follow([...places.keys()], had);
  }, [marks, places, virtual]);
  return (
    <div ref={scroller} className="relative min-h-0 flex-1 overflow-y-auto [contain:strict]">
      <div>{top}</div>
      <ul
        ref={grid}
        aria-label={label}
        style={{ height: virtual.getTotalSize() }}
        className="relative border-t"
      >
        {virtual.getVirtualItems().map((place) => {
          const item = items[place.index];
          if (!item) return null;
          const common = {
            index: place.index,
            start: place.start - margin,
            measure: virtual.measureElement,
          };
          if (item.kind === "group")
            return (
              <Heading
                key={place.key}
                name={nameOf(item.name)}
                count={item.count}
                extra={headingOf?.(item.name) ?? NAME_ONLY}
                {...common}
              />
            );
          return (
            <Row
              key={place.key}
              memory={item.memory}
              onOpen={onOpen}
              rail={rail}
              {...common}
              {...(extraOf?.(item.memory) ?? NOTHING)}
            />
          );
        })}
      </ul>
      {bottom}
    </div>
  );
}

function Heading({
  name,
  count,
  extra: { area, action },
  index,
  start,
  measure,
}: {
  name: string;
  count: number;
  extra: HeadingExtra;
  index: number;
  start: number;
  measure: (element: Element | null) => void;
}) {
  return (
    <li
      ref={measure}
      data-index={index}
      style={{ transform: `translateY(${start}px)` }}
      className="absolute inset-x-0 top-0 flex min-h-11 items-center gap-2 border-b px-4 py-1.5 text-meta text-muted sm:px-6 md:gap-3"
    >
      {area !== undefined && (
        // In the column of the pins, so that the name begins where the memories begin.
        <span className="flex shrink-0 justify-center md:w-5">
          <AreaDot domain={area} />
        </span>
      )}
      <div className="flex min-w-0 flex-1 items-baseline gap-2">
        <h2 className="truncate font-semibold text-ink">
          <bdi>{name}</bdi>
        </h2>
        <span className="tabular-nums">{numberFormat(locale()).format(count)}</span>
      </div>
      {action}
    </li>
  );
}
