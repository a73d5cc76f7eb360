/**
 * The memory as a board of beads: a lane for each area, time from left to right. It can be zoomed, walked by
 * arrow keys, read as a table, saved as a picture, and shown as it was known on any day.
 */
import { ImageDown, Minus, Plus, Table2, ZoomOut } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import {
  type KeyboardEvent,
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { usePreferences } from "../../base/preferences.ts";
import { useKnownPast } from "../../data/known.ts";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { locale, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { useSize } from "../../ui/width.ts";
import { ticksOf } from "./shape-axis.ts";
import { BeadBoard, TICK_GAP, useAreaName } from "./shape-board.tsx";
import { BeadCaption } from "./shape-caption.tsx";
import { useGestures } from "./shape-gestures.ts";
import { BEAD_SHAPES, shapeOf } from "./shape-kinds.ts";
import {
  areasOf,
  type Bead,
  clamped,
  lanesOf,
  moved,
  neighbour,
  placesOf,
  planOf,
  type Span,
  savedAt,
  spanOf,
  timeAt,
  trueSince,
  wholeSpan,
  zoomed,
} from "./shape-layout.ts";
import { momentOf, STEPS, TimeScrubber } from "./shape-scrubber.tsx";
import { BeadLegend, SHAPE_NAMES, ShapeTable } from "./shape-table.tsx";

const SavePicture = lazy(async () => ({ default: (await import("./shape-save.tsx")).SavePicture }));

const ZOOM_FACTOR = 2;
const FINGER = "(pointer: coarse)";

export function Shape({
  memories,
  all,
  matching,
  by,
  past,
  onOpen,
}: {
  /** The memories that the page shows. */
  memories: readonly MemoryView[];
  /** Those of every status, for the slider. */
  all: readonly MemoryView[];
  /** The filter of the page. */
  matching: (memories: readonly MemoryView[]) => readonly MemoryView[];
  /** The time axis: when a memory was learned, or since when it is true. */
  by: "learned" | undefined;
  /** Whether an earlier day can be chosen. */
  past: boolean;
  onOpen: OpenMemory;
}) {
  const { timeZone } = usePreferences();
  const nameOf = useAreaName();
  const [today] = useState(() => Date.now());
  const [step, setStep] = useState(STEPS);
  const [chosen, setChosen] = useState<Span>();
  const [table, setTable] = useState(false);
  const [saving, setSaving] = useState(false);
  const [current, setCurrent] = useState<string>();
  const board = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const size = useSize(scroller);
  const finger = matchMedia(FINGER).matches;
  const dateOf = by === "learned" ? savedAt : trueSince;

  const began = useMemo(
    () => all.reduce((first, memory) => Math.min(first, savedAt(memory)), today),
    [all, today],
  );
  // The first step is just before the first memory.
  const stepTime = useCallback(
    (at: number) => began - 1 + ((today - began + 1) * at) / STEPS,
    [began, today],
  );
  const then = past && step < STEPS ? stepTime(step) : undefined;
  const known = useKnownPast(all, then);
  const { versions } = known;
  const shown = useMemo(
    () => (then === undefined ? memories : matching(known.memories)),
    [then, memories, matching, known.memories],
  );
  // Areas and sizes are of all times, so that nothing moves while the memory grows.
  const ever = useMemo(() => {
    if (!past || !versions) return memories;
    const current = new Set(memories.map((memory) => memory.id));
    const earlier = new Map(
      versions.flatMap(({ memory }) => (current.has(memory.id) ? [] : [[memory.id, memory]])),
    );
    const extra = earlier.size > 0 ? matching([...earlier.values()]) : [];
    return extra.length > 0 ? [...memories, ...extra] : memories;
  }, [memories, versions, matching, past]);
  const areas = useMemo(() => areasOf(ever), [ever]);
  const whole = useMemo(() => wholeSpan(ever, today, dateOf), [ever, today, dateOf]);
  const timeOf = useMemo(() => clamped(dateOf, whole), [dateOf, whole]);
  const span = chosen ?? whole;
  const everPlaced = useMemo(() => placesOf(ever, areas, timeOf), [ever, areas, timeOf]);
  const plan = useMemo(
    () => planOf(everPlaced, span, { ...size, finger }),
    [everPlaced, span, size, finger],
  );
  const placed = useMemo(
    () => (shown === ever ? everPlaced : placesOf(shown, areas, timeOf)),
    [shown, ever, everPlaced, areas, timeOf],
  );
  const lanes = useMemo(() => lanesOf(placed, areas, span, plan), [placed, areas, span, plan]);
  const beads = useMemo(() => lanes.flatMap((lane) => lane.beads), [lanes]);
  const inView = lanes.reduce((sum, lane) => sum + lane.count, 0);
  // Without a choice the latest memory is selected.
  const latest = beads.reduce<Bead | undefined>(
    (best, bead) => (best && best.x > bead.x ? best : bead),
    undefined,
  );
  const selected = beads.find((bead) => bead.id === current) ?? latest;

  useEffect(() => {
    if (!past) setStep(STEPS);
  }, [past]);

  const setSpan = (next: Span) => {
    const isWhole = next.to - next.from >= (whole.to - whole.from) * 0.999;
    setChosen(isWhole ? undefined : next);
  };
  const zoom = (factor: number, around = (span.from + span.to) / 2) =>
    setSpan(zoomed(span, whole, factor, around));
  // A bead of many is spread over the whole board; those of one instant cannot be.
  const spread = (bead: Bead) => setSpan(spanOf(bead.memories, whole, timeOf));
  const { band, handlers } = useGestures(board, { plan, span, whole, onSpan: setSpan });

  const open = (id: string, onlySelects: boolean) => {
    const bead = beads.find((one) => one.id === id);
    const [memory, ...others] = bead?.memories ?? [];
    if (!bead || !memory) return;
    setCurrent(id);
    if (onlySelects) return;
    if (others.length === 0) onOpen(memory);
    else spread(bead);
  };
  // The beads are rendered again only when they change, so they get the same function every time.
  const opener = useRef(open);
  opener.current = open;
  const openBead = useCallback(
    (id: string, onlySelects: boolean) => opener.current(id, onlySelects),
    [],
  );
  const press = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const id = selected?.id;
    const isBead = (event.target as Element).closest("[data-bead]") !== null;
    if (event.key === "+" || event.key === "=")
      zoom(ZOOM_FACTOR, selected && timeAt(plan, span, selected.x));
    else if (event.key === "-") zoom(1 / ZOOM_FACTOR);
    else if (event.key === "0") setChosen(undefined);
    else if ((event.key === "Enter" || event.key === " ") && id && isBead) open(id, false);
    else {
      const next = id && isBead ? neighbour(lanes, id, event.key) : undefined;
      if (!next) return;
      setCurrent(next.id);
      board.current?.querySelector<SVGGElement>(`[data-bead="${CSS.escape(next.id)}"]`)?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const when = then === undefined ? undefined : momentOf(then, stepTime, timeZone);
  const count =
    when !== undefined
      ? t("memory.shape.countOn", { count: shown.length, when })
      : chosen
        ? t("memory.shape.count", { count: inView, of: shown.length })
        : t("memory.shape.countAll", {
            count: shown.length,
            areas: areas.filter((area) => area !== "").length,
          });
  return (
    <div className="flex min-h-0 flex-1 flex-col border-t">
      <div className="flex flex-wrap items-center gap-x-1.5 gap-y-2 px-4 py-2.5 sm:gap-x-4 sm:px-6">
        <output className="min-w-0 text-meta text-muted tabular-nums">{count}</output>
        <span className="flex-1" />
        {!table && (
          <>
            {chosen && (
              <span className="flex gap-1">
                <Button small onClick={() => setChosen(moved(span, whole, -0.5))}>
                  {t("memory.shape.earlier")}
                </Button>
                <Button small onClick={() => setChosen(moved(span, whole, 0.5))}>
                  {t("memory.shape.later")}
                </Button>
              </span>
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
                className={chosen ? "" : "max-sm:hidden"}
              >
                <ZoomOut size={16} aria-hidden />
              </IconButton>
            </span>
          </>
        )}
        <Button small aria-pressed={table} onClick={() => setTable(!table)}>
          <Table2 size={14} aria-hidden className="text-muted" />
          <span className="max-sm:sr-only">
            {t(table ? "memory.shape.asBeads" : "memory.shape.asTable")}
          </span>
        </Button>
        {!table && (
          <Button small onClick={() => setSaving(true)}>
            <ImageDown size={14} aria-hidden className="text-muted" />
            <span className="max-sm:sr-only">{t("memory.shape.save")}</span>
          </Button>
        )}
      </div>
      {known.error ? (
        <div className="px-4 sm:px-6">
          <ProblemCard error={known.error} />
        </div>
      ) : null}
      {table && (
        <ShapeTable
          memories={shown}
          span={span}
          timeOf={timeOf}
          dateOf={dateOf}
          timeName={t(by === "learned" ? "memory.field.learned" : "memory.field.from")}
          onOpen={onOpen}
        />
      )}
      <div className={table ? "hidden" : "flex min-h-0 flex-1 flex-col px-4 pb-2 sm:px-6"}>
        <div
          ref={scroller}
          data-scroller
          className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto"
        >
          {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys act on the focused bead inside */}
          <div ref={board} onKeyDown={press} {...handlers} className="min-w-0">
            {size.width > 0 && (
              <BeadBoard
                lanes={lanes}
                plan={plan}
                span={span}
                band={band}
                marker={then}
                dateOf={dateOf}
                current={selected?.id}
                onFocus={setCurrent}
                onOpen={openBead}
              />
            )}
          </div>
        </div>
        <div className="shrink-0 pt-2 max-sm:hidden">
          <BeadLegend />
        </div>
      </div>
      {!table && <BeadCaption bead={selected} dateOf={dateOf} onOpen={onOpen} />}
      {past && (
        <TimeScrubber
          step={step}
          timeOf={stepTime}
          versions={versions}
          waiting={known.pending}
          onStep={setStep}
        />
      )}
      {saving && (
        <Suspense>
          <SavePicture
            picture={{
              title: t("memory.shape.pictureTitle"),
              subtitle: when ? t("memory.shape.countOn", { count: shown.length, when }) : count,
              shown,
              areas,
              span,
              timeOf,
              ticks: (width) => ticksOf(span, width, TICK_GAP * 1.4, locale(), timeZone),
              nameOf,
              legend: BEAD_SHAPES.filter((shape) =>
                shown.some((one) => shapeOf(one) === shape),
              ).map((shape) => ({ shape, name: t(SHAPE_NAMES[shape]) })),
            }}
            onClose={() => setSaving(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
