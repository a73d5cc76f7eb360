/**
 * The memory as a board of beads: a lane for each area, time from left to right. It can be zoomed, walked by
 * arrow keys, read as a table, and played from the first memory to now.
 */
import { Minus, Pause, Play, Plus, Table2, ZoomOut } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Slider } from "../../ui/slider.tsx";
import { useWidth } from "../../ui/width.ts";
import { BeadBoard } from "./shape-board.tsx";
import {
  areasOf,
  clamped,
  lanesOf,
  moved,
  neighbour,
  type Span,
  savedAt,
  trueSince,
  wholeSpan,
  zoomed,
} from "./shape-layout.ts";
import { BeadLegend, ShapeTable } from "./shape-table.tsx";

/** Steps of the time scrubber. */
const STEPS = 100;
/** How long it takes to play everything. */
const PLAY_MS = 6_000;
const PLAY_INTERVAL_MS = 60;
const ZOOM_FACTOR = 2;
/** Up to this number of memories the beads are larger, where there is room. */
const MAX_LARGE = 200;
const MIN_LARGE_WIDTH = 640;

export function Shape({
  memories,
  by,
  onOpen,
}: {
  memories: readonly MemoryView[];
  /** The time axis: when a memory was learned, or since when it is true. */
  by: "learned" | undefined;
  onOpen: OpenMemory;
}) {
  const { timeZone } = usePreferences();
  const [today] = useState(() => Date.now());
  const dateOf = by === "learned" ? savedAt : trueSince;
  const whole = useMemo(() => wholeSpan(memories, today, dateOf), [memories, today, dateOf]);
  const timeOf = useMemo(() => clamped(dateOf, whole), [dateOf, whole]);
  const [chosen, setChosen] = useState<Span>();
  const [step, setStep] = useState(STEPS);
  const [table, setTable] = useState(false);
  const [playing, setPlaying] = useState(false);
  const [current, setCurrent] = useState<string>();
  const board = useRef<HTMLDivElement>(null);
  const width = useWidth(board);
  const span = chosen ?? whole;
  const stepTime = (at: number) => whole.from + ((whole.to - whole.from) * at) / STEPS;
  const until = step === STEPS ? Number.POSITIVE_INFINITY : stepTime(step);
  const areas = useMemo(() => areasOf(memories), [memories]);
  const scale = memories.length <= MAX_LARGE && width >= MIN_LARGE_WIDTH ? 1.5 : 1;
  const lanes = useMemo(
    () => lanesOf(memories, areas, span, until, width, scale, timeOf),
    [memories, areas, span, until, width, scale, timeOf],
  );
  const first = lanes.find((lane) => lane.beads.length > 0)?.beads[0]?.id;
  const there = lanes.some((lane) => lane.beads.some((bead) => bead.id === current));
  const shown = lanes.reduce((sum, lane) => sum + lane.count, 0);

  useEffect(() => {
    if (!playing) return;
    // By the clock, so that a busy machine shows fewer steps and not a longer film.
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      const steps = (STEPS * (now - last)) / PLAY_MS;
      last = now;
      setStep((at) => Math.min(STEPS, at + steps));
    }, PLAY_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [playing]);
  useEffect(() => {
    if (step >= STEPS) setPlaying(false);
  }, [step]);

  const zoom = (factor: number, around = (span.from + span.to) / 2) => {
    const next = zoomed(span, whole, factor, around);
    const isWhole = next.to - next.from >= (whole.to - whole.from) * 0.999;
    setChosen(isWhole ? undefined : next);
  };
  const focus = (id: string) => {
    setCurrent(id);
    board.current?.querySelector<SVGGElement>(`[data-bead="${CSS.escape(id)}"]`)?.focus();
  };
  const open = (id: string) => {
    const bead = lanes.flatMap((lane) => lane.beads).find((one) => one.id === id);
    const [memory, ...others] = bead?.memories ?? [];
    if (!bead || !memory) return;
    if (others.length === 0) onOpen(memory);
    else zoom(ZOOM_FACTOR * 4, span.from + (bead.x / width) * (span.to - span.from));
  };
  const press = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const id = there ? current : first;
    if (event.key === "+" || event.key === "=") zoom(ZOOM_FACTOR);
    else if (event.key === "-") zoom(1 / ZOOM_FACTOR);
    else if (event.key === "0") setChosen(undefined);
    else if ((event.key === "Enter" || event.key === " ") && id) open(id);
    else {
      const next = id && neighbour(lanes, id, event.key);
      if (!next) return;
      focus(next.id);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto border-t">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-3 sm:px-6">
        <output className="text-meta text-muted tabular-nums">
          {t("memory.shape.count", { count: shown, of: memories.length })}
        </output>
        <span className="flex-1" />
        {chosen && (
          <>
            <Button small onClick={() => setChosen(moved(span, whole, -0.5))}>
              {t("memory.shape.earlier")}
            </Button>
            <Button small onClick={() => setChosen(moved(span, whole, 0.5))}>
              {t("memory.shape.later")}
            </Button>
          </>
        )}
        <span className="flex items-center">
          <IconButton
            label={t("memory.shape.zoomOut")}
            shortcut="-"
            onClick={() => zoom(1 / ZOOM_FACTOR)}
            disabled={!chosen}
          >
            <Minus size={16} aria-hidden />
          </IconButton>
          <IconButton
            label={t("memory.shape.zoomIn")}
            shortcut="+"
            onClick={() => zoom(ZOOM_FACTOR)}
          >
            <Plus size={16} aria-hidden />
          </IconButton>
          <IconButton
            label={t("memory.shape.whole")}
            shortcut="0"
            onClick={() => setChosen(undefined)}
            disabled={!chosen}
          >
            <ZoomOut size={16} aria-hidden />
          </IconButton>
        </span>
        <Button small aria-pressed={table} onClick={() => setTable(!table)}>
          <Table2 size={14} aria-hidden className="text-muted" />
          {t(table ? "memory.shape.asBeads" : "memory.shape.asTable")}
        </Button>
      </div>
      <div className="px-4 py-3 sm:px-6">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys act on the focused bead inside */}
        <div ref={board} onKeyDown={press} className="min-w-0">
          {table ? (
            <ShapeTable
              memories={memories}
              areas={areas}
              span={span}
              until={until}
              timeOf={timeOf}
            />
          ) : (
            width > 0 && (
              <BeadBoard
                lanes={lanes}
                width={width}
                span={span}
                scale={scale}
                dateOf={dateOf}
                current={there ? current : first}
                onFocus={setCurrent}
                onOpen={open}
              />
            )
          )}
        </div>
        {!table && <BeadLegend />}
      </div>
      <div className="sticky bottom-0 mt-auto flex items-center gap-3 border-t bg-canvas px-4 py-2 sm:px-6">
        <IconButton
          label={t(playing ? "memory.shape.pause" : "memory.shape.play")}
          onClick={() => {
            if (!playing && step === STEPS) setStep(0);
            setPlaying(!playing);
          }}
        >
          {playing ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        </IconButton>
        <div className="min-w-0 flex-1">
          <Slider
            label={t("memory.shape.until")}
            value={Math.round(step)}
            min={0}
            max={STEPS}
            text={(at) => (at === STEPS ? t("memory.past.now") : day(stepTime(at), timeZone))}
            onChange={(at) => {
              setPlaying(false);
              setStep(at);
            }}
          />
        </div>
      </div>
    </div>
  );
}
