/** The memories of the board as a table, and the legend. Only the visible rows are rendered. */

import { useVirtualizer } from "@tanstack/react-virtual";
import type { MemoryView } from "lukasa-client";
import { useMemo, useRef } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { certaintyOf, sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { AreaDot } from "../../features/memory/area-dot.tsx";
import { t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import { useAreaName } from "./shape-board.tsx";
import { BEAD_SHAPES } from "./shape-kinds.ts";
import type { Span, TimeOf } from "./shape-layout.ts";
import { OneBead } from "./shape-marks.tsx";

const COLUMNS =
  "grid grid-cols-[minmax(0,1fr)_7rem] gap-x-4 px-4 sm:px-6 md:grid-cols-[minmax(0,1fr)_10rem_7rem_8rem_10rem]";
const ROW_HEIGHT = 45;

/** The memories in the visible time, the latest first. */
export function ShapeTable({
  memories,
  span,
  timeOf,
  dateOf,
  timeName,
  onOpen,
}: {
  memories: readonly MemoryView[];
  span: Span;
  /** Where a memory is on the axis, and the date that is shown for it. */
  timeOf: TimeOf;
  dateOf: TimeOf;
  timeName: string;
  onOpen: OpenMemory;
}) {
  const nameOf = useAreaName();
  const { timeZone } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(
    () =>
      memories
        .map((memory) => ({ memory, at: timeOf(memory) }))
        .filter(({ at }) => at >= span.from && at <= span.to)
        .sort((a, b) => b.at - a.at),
    [memories, span, timeOf],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (at) => rows[at]?.memory.id ?? at,
    overscan: 8,
  });
  const head = "py-2 text-fine font-medium text-muted";
  const wide = "max-md:hidden";
  return (
    // A grid of its own, because the rows of a table cannot be placed.
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div
      ref={scroller}
      role="table"
      aria-label={t("memory.shape.label")}
      aria-rowcount={rows.length + 1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto border-t -outline-offset-2"
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: a row of a table is not interactive */}
      <div
        role="row"
        aria-rowindex={1}
        className={classes(COLUMNS, "sticky top-0 z-10 border-b bg-canvas")}
      >
        <Head className={head}>{t("memory.field.content")}</Head>
        <Head className={classes(head, wide)}>{t("memory.field.domain")}</Head>
        <Head className={head}>{timeName}</Head>
        <Head className={classes(head, wide)}>{t("memory.field.tier")}</Head>
        <Head className={classes(head, wide)}>{t("memory.field.source")}</Head>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((place) => {
          const memory = rows[place.index]?.memory;
          if (!memory) return null;
          return (
            // biome-ignore lint/a11y/useSemanticElements: see above
            // biome-ignore lint/a11y/useFocusableInteractive: a row of a table is not interactive
            <div
              key={place.key}
              ref={virtual.measureElement}
              data-index={place.index}
              role="row"
              aria-rowindex={place.index + 2}
              style={{ transform: `translateY(${place.start}px)` }}
              className={classes(COLUMNS, "absolute inset-x-0 top-0 items-center border-b")}
            >
              <Cell>
                <button
                  type="button"
                  onClick={() => onOpen(memory)}
                  className="min-h-11 w-full py-2 text-start hover:underline"
                >
                  <span dir="auto" className="line-clamp-2">
                    {shownContent(memory)}
                  </span>
                </button>
              </Cell>
              <Cell className={classes("flex items-center gap-2 text-meta", wide)}>
                <AreaDot domain={memory.domain ?? ""} />
                <bdi className="truncate">{nameOf(memory.domain ?? "")}</bdi>
              </Cell>
              <Cell className="text-meta text-muted tabular-nums">
                {day(dateOf(memory), timeZone)}
              </Cell>
              <Cell className={classes("text-meta text-muted", wide)}>
                {t(`shell.tier.${certaintyOf(memory)}`)}
              </Cell>
              <Cell className={classes("text-meta text-muted", wide)}>
                {t(`shell.origin.${sourceOf(memory)}`)}
              </Cell>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Head({ className, children }: { className: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a cell of the grid above
    // biome-ignore lint/a11y/useFocusableInteractive: a heading of a table is not interactive
    <div role="columnheader" className={className}>
      {children}
    </div>
  );
}

function Cell({ className, children }: { className?: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a cell of the grid above
    <div role="cell" className={className}>
      {children}
    </div>
  );
}

export const SHAPE_NAMES = {
  rule: "shell.force.hard",
  certain: "shell.tier.strong",
  likely: "shell.tier.tentative",
  guess: "shell.tier.candidate",
  unused: "shell.tier.unused",
} as const;

/** What the shapes mean; colours are named beside the lanes. */
export function BeadLegend() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-meta text-muted">
      {BEAD_SHAPES.map((shape) => (
        <li key={shape} className="inline-flex items-center gap-1.5">
          <svg viewBox="-9 -9 18 18" className="size-4 text-muted" aria-hidden>
            <OneBead shape={shape} radius={7} />
          </svg>
          {t(SHAPE_NAMES[shape])}
        </li>
      ))}
    </ul>
  );
}
