/** The areas with their memories. Only the visible lines are rendered: an import may have a thousand. */

import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { Check, RotateCcw, X } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { shownContent } from "../../data/shown-content.ts";
import { SuggestAreas } from "../../features/filing/suggest-areas.tsx";
import { domainName } from "../../i18n/domains.ts";
import { numberFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Kbd } from "../../ui/kbd.tsx";
import { useYieldingHeader } from "../../ui/yielding.ts";
import { type Area, linesOf, nextMemory } from "./lines.ts";

const AREA_HEIGHT_PX = 49;
const ROW_HEIGHT_PX = 45;

export function RevealList({
  title,
  areas,
  dropped,
  onToggle,
  onKeepArea,
  busy,
}: {
  title: string;
  areas: readonly Area[];
  dropped: ReadonlySet<string>;
  onToggle: (id: string) => void;
  /** Absent if everything is kept already. */
  onKeepArea?: (area: Area) => void;
  busy: boolean;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  useYieldingHeader(scroller);
  const lines = useMemo(() => linesOf(areas), [areas]);
  const [chosen, setChosen] = useState(1);
  const at = lines[chosen]?.kind === "memory" ? chosen : nextMemory(lines, chosen, -1) || 1;
  const wanted = useRef(false);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === "area" ? AREA_HEIGHT_PX : ROW_HEIGHT_PX),
    getItemKey: (index) => {
      const line = lines[index];
      return line?.kind === "memory" ? line.memory.id : `area ${line?.area.name ?? index}`;
    },
    overscan: 10,
    // Always render the focused line: it is the only tab stop of the memories.
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return shown.includes(at) ? shown : [...shown, at].sort((a, b) => a - b);
    },
  });
  useEffect(() => {
    if (!wanted.current) return;
    wanted.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-line="${at}"]`)?.focus();
  });
  const move = (by: 1 | -1) => {
    const next = nextMemory(lines, at, by);
    wanted.current = true;
    setChosen(next);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  const current = lines[at];
  useShortcuts(title, [
    { keys: "j", label: t("memory.key.down"), run: () => move(1), quiet: true },
    { keys: "k", label: t("memory.key.up"), run: () => move(-1), quiet: true },
    { keys: "ArrowDown", label: t("memory.key.down"), run: () => move(1), quiet: true },
    { keys: "ArrowUp", label: t("memory.key.up"), run: () => move(-1), quiet: true },
    {
      keys: "d",
      label: t("reveal.drop"),
      run: () => current?.kind === "memory" && onToggle(current.memory.id),
    },
  ]);
  return (
    <div
      ref={scroller}
      className="relative mx-4 min-h-0 flex-initial overflow-y-auto rounded-card border bg-surface sm:mx-6"
    >
      <ul
        aria-label={title}
        style={{ height: virtual.getTotalSize() }}
        className="relative transition duration-200 starting:translate-y-2 starting:opacity-0"
      >
        {virtual.getVirtualItems().map((place) => {
          const line = lines[place.index];
          if (!line) return null;
          return (
            <li
              key={place.key}
              ref={virtual.measureElement}
              data-index={place.index}
              style={{ transform: `translateY(${place.start}px)` }}
              className={classes(
                "absolute inset-x-0 top-0 border-b ps-4 pe-2 last:border-b-0",
                line.kind === "area" && "bg-canvas",
              )}
            >
              {line.kind === "area" ? (
                <AreaLine area={line.area} busy={busy} onKeep={onKeepArea} />
              ) : (
                <MemoryLine
                  memory={line.memory}
                  line={place.index}
                  current={place.index === at}
                  dropped={dropped.has(line.memory.id)}
                  onFocus={() => setChosen(place.index)}
                  onToggle={() => onToggle(line.memory.id)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function AreaLine({
  area,
  busy,
  onKeep,
}: {
  area: Area;
  busy: boolean;
  onKeep?: (area: Area) => void;
}) {
  const name = area.name ? domainName(area.name) : t("memory.noDomain");
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-2 py-2">
      <h2 className="min-w-0 truncate text-lead font-semibold">
        <bdi>{name}</bdi>
      </h2>
      <span className="flex-1 text-meta leading-6 text-muted tabular-nums">
        {numberFormat(locale()).format(area.memories.length)}
      </span>
      {!area.name && <SuggestAreas memories={area.memories} />}
      {onKeep && (
        <Button small disabled={busy} onClick={() => onKeep(area)}>
          <Check size={14} aria-hidden />
          {t("reveal.keepArea")}
          <span className="sr-only">{name}</span>
        </Button>
      )}
    </div>
  );
}

function MemoryLine({
  memory,
  line,
  current,
  dropped,
  onFocus,
  onToggle,
}: {
  memory: MemoryView;
  line: number;
  current: boolean;
  dropped: boolean;
  onFocus: () => void;
  onToggle: () => void;
}) {
  return (
    <div className="flex min-h-11 items-center gap-3">
      <span
        dir="auto"
        className={classes("min-w-0 flex-1 py-2", dropped && "text-muted line-through")}
      >
        {shownContent(memory)}
      </span>
      <Button
        small
        look="quiet"
        data-line={line}
        tabIndex={current ? 0 : -1}
        onFocus={onFocus}
        onClick={onToggle}
      >
        {dropped ? <RotateCcw size={14} aria-hidden /> : <X size={14} aria-hidden />}
        {t(dropped ? "reveal.putBack" : "reveal.drop")}
        <span className="sr-only">{shownContent(memory)}</span>
        {current && <Kbd keys="d" />}
      </Button>
    </div>
  );
}
