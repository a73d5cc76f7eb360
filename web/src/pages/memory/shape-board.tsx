/** The board of beads as SVG: names, strings, the time axis, and the card of the bead under the pointer. */

import { memo, useContext, useRef, useState } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { shownContent } from "../../data/shown-content.ts";
import { areaClass } from "../../features/memory/area-colours.ts";
import { DomainNames } from "../../features/memory/labels.ts";
import { domainName } from "../../i18n/domains.ts";
import { numberFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import { labelsOf, ticksOf } from "./shape-axis.ts";
import type { Band } from "./shape-gestures.ts";
import { shapeOf } from "./shape-kinds.ts";
import {
  AXIS_HEIGHT,
  type Bead,
  type Lane,
  type Plan,
  type Span,
  type TimeOf,
  xOf,
} from "./shape-layout.ts";
import { ManyBeads, OneBead } from "./shape-marks.tsx";

export const TICK_GAP = 76;
/** A label of the axis needs this much room before the edge. */
const LABEL_ROOM = 66;

/** The name of an area, as the board shows it. */
export function useAreaName(): (domain: string) => string {
  const names = useContext(DomainNames);
  return (domain) => (domain ? (names.get(domain) ?? domainName(domain)) : t("memory.noDomain"));
}

export function BeadBoard({
  lanes,
  plan,
  span,
  band,
  marker,
  dateOf,
  current,
  onFocus,
  onOpen,
}: {
  lanes: readonly Lane[];
  plan: Plan;
  span: Span;
  band: Band | undefined;
  /** A time with a line of its own: the day that is shown. */
  marker: number | undefined;
  /** The date that a bead shows. */
  dateOf: TimeOf;
  current: string | undefined;
  onFocus: (id: string) => void;
  onOpen: (id: string, onlySelects: boolean) => void;
}) {
  const nameOf = useAreaName();
  const { timeZone } = usePreferences();
  const [pointed, setPointed] = useState<Bead>();
  const { width, height } = plan;
  // A zoom may remove the bead under the pointer, which then never leaves it.
  const card = lanes.flatMap((lane) => lane.beads).find((bead) => bead.id === pointed?.id);
  return (
    <div className="relative">
      {/* Time goes from left to right in every language, as in charts. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a field set cannot be an SVG */}
      <svg
        role="group"
        aria-label={t("memory.shape.label")}
        width={width}
        height={height}
        direction="ltr"
        className="block touch-pan-y rounded-card bg-sunken select-none"
      >
        <Axis span={span} plan={plan} />
        {marker !== undefined && marker >= span.from && marker <= span.to && (
          <line
            x1={xOf(plan, span, marker)}
            x2={xOf(plan, span, marker)}
            y1={AXIS_HEIGHT}
            y2={height}
            strokeWidth={1.5}
            className="stroke-accent"
          />
        )}
        {lanes.map((lane) => (
          // biome-ignore lint/a11y/useSemanticElements: there are no field sets in SVG
          // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of SVG is not interactive
          <g
            key={lane.domain}
            role="group"
            aria-label={t("memory.shape.lane", { area: nameOf(lane.domain), count: lane.count })}
            className={areaClass(lane.domain)}
          >
            <LaneName lane={lane} plan={plan} name={nameOf(lane.domain)} />
            <line
              x1={plan.left - 8}
              x2={width - 6}
              y1={lane.string}
              y2={lane.string}
              strokeWidth={2}
              strokeLinecap="round"
              className="stroke-current opacity-30"
            />
            {lane.beads.map((bead) => (
              <BeadMark
                key={bead.id}
                bead={bead}
                pitch={plan.pitch}
                label={labelOf(bead, nameOf(lane.domain), dateOf, timeZone)}
                current={bead.id === current}
                onFocus={onFocus}
                onOpen={onOpen}
                onPoint={setPointed}
              />
            ))}
          </g>
        ))}
        {band && (
          <rect
            x={band.from}
            y={AXIS_HEIGHT}
            width={band.to - band.from}
            height={height - AXIS_HEIGHT}
            className="pointer-events-none fill-accent stroke-accent opacity-15"
          />
        )}
      </svg>
      {card && !band && <BeadCard bead={card} dateOf={dateOf} plan={plan} />}
    </div>
  );
}

function LaneName({ lane, plan, name }: { lane: Lane; plan: Plan; name: string }) {
  const count = numberFormat(locale()).format(lane.count);
  const line = lane.top > AXIS_HEIGHT && (
    <line x1={0} x2={plan.width} y1={lane.top} y2={lane.top} className="stroke-line" />
  );
  // Beside the beads, or above them where it is narrow.
  const y = plan.nameHeight > 0 ? lane.top + 14 : lane.string;
  return (
    <g aria-hidden>
      {line}
      <circle cx={18} cy={y} r={4.5} className="fill-current" />
      <text x={31} y={y} dy="0.35em" className="fill-ink text-meta font-medium">
        {clipped(name)}
        <tspan className="fill-faint font-normal tabular-nums">{`\u2002${count}`}</tspan>
      </text>
    </g>
  );
}

const MAX_NAME = 19;

function clipped(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
}

function labelOf(
  { memories }: Bead,
  area: string,
  dateOf: TimeOf,
  timeZone: string | null,
): string {
  const [memory] = memories;
  if (!memory) return "";
  const when = day(dateOf(memory), timeZone);
  if (memories.length > 1) return t("memory.shape.many", { count: memories.length, area, when });
  return t("memory.shape.one", { content: shownContent(memory), area, when });
}

const BeadMark = memo(
  function BeadMark({
    bead,
    pitch,
    label,
    current,
    onFocus,
    onOpen,
    onPoint,
  }: {
    bead: Bead;
    pitch: number;
    label: string;
    current: boolean;
    onFocus: (id: string) => void;
    onOpen: (id: string, onlySelects: boolean) => void;
    onPoint: (bead: Bead | undefined) => void;
  }) {
    const firstTap = useRef(false);
    const [memory] = bead.memories;
    if (!memory) return null;
    const many = bead.memories.length > 1;
    return (
      // biome-ignore lint/a11y/useSemanticElements: there are no buttons in SVG
      <g
        role="button"
        tabIndex={current ? 0 : -1}
        data-bead={bead.id}
        aria-label={label}
        transform={`translate(${bead.x} ${bead.y})`}
        // A finger has no pointer to look with: its first tap only selects. The focus comes before the click.
        onPointerDown={({ pointerType }) => {
          firstTap.current = pointerType === "touch" && !current;
        }}
        onClick={() => {
          onOpen(bead.id, firstTap.current);
          firstTap.current = false;
        }}
        onFocus={() => onFocus(bead.id)}
        onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(bead)}
        onPointerLeave={() => onPoint(undefined)}
        className={classes(
          "bead cursor-pointer outline-none focus-visible:[&>.ring]:opacity-100",
          current && "is-current",
        )}
      >
        <rect
          x={-pitch / 2}
          y={-pitch / 2}
          width={pitch}
          height={pitch}
          className="fill-transparent"
        />
        {current && (
          <circle r={bead.radius + 3} className="fill-none stroke-current" strokeWidth={1.5} />
        )}
        <circle
          r={bead.radius + 3}
          className="ring fill-none stroke-ink opacity-0"
          strokeWidth={2}
        />
        {many ? (
          <ManyBeads count={bead.memories.length} radius={bead.radius} />
        ) : (
          <OneBead shape={shapeOf(memory)} radius={bead.radius} />
        )}
      </g>
    );
  },
  (was, is) =>
    was.bead.memories.length === is.bead.memories.length &&
    was.bead.memories[0] === is.bead.memories[0] &&
    was.bead.x === is.bead.x &&
    was.bead.y === is.bead.y &&
    was.bead.radius === is.bead.radius &&
    was.pitch === is.pitch &&
    was.current === is.current &&
    was.label === is.label &&
    was.onOpen === is.onOpen,
);

function Axis({ span, plan }: { span: Span; plan: Plan }) {
  const { timeZone } = usePreferences();
  const ticks = ticksOf(span, plan.plot, TICK_GAP, locale(), timeZone);
  const place = (tick: { at: number }) => xOf(plan, span, tick.at);
  const labels = labelsOf(ticks, place, plan.width - 4, LABEL_ROOM);
  return (
    <g aria-hidden>
      {ticks.map((tick, at) => (
        <g key={tick.at} transform={`translate(${place(tick)} 0)`}>
          {at > 0 && (
            <line
              y1={12}
              y2={plan.height}
              className={tick.major ? "stroke-strong-line opacity-60" : "stroke-line"}
            />
          )}
          <text
            x={at > 0 ? 7 : 0}
            y={22}
            className={classes(
              "text-fine tabular-nums",
              tick.major ? "fill-ink font-medium" : "fill-muted",
            )}
          >
            {labels[at]}
          </text>
        </g>
      ))}
      <line x1={0} x2={plan.width} y1={AXIS_HEIGHT} y2={AXIS_HEIGHT} className="stroke-line" />
    </g>
  );
}

const CARD_WIDTH = 280;
const CARD_HEIGHT = 110;

/** What a bead says, next to the pointer. */
function BeadCard({ bead, dateOf, plan }: { bead: Bead; dateOf: TimeOf; plan: Plan }) {
  const { timeZone } = usePreferences();
  const [memory] = bead.memories;
  if (!memory) return null;
  const left = Math.max(0, Math.min(plan.width - CARD_WIDTH, bead.x - CARD_WIDTH / 2));
  const below = bead.y + bead.radius + 10;
  const place =
    below + CARD_HEIGHT < plan.height
      ? { top: below }
      : { bottom: plan.height - bead.y + bead.radius + 10 };
  return (
    <div
      aria-hidden
      style={{ left, ...place, width: Math.min(CARD_WIDTH, plan.width) }}
      className="pointer-events-none absolute z-10 rounded-control border bg-surface px-3 py-2 shadow-raised"
    >
      <p dir="auto" className="line-clamp-3">
        {bead.memories.length > 1
          ? t("memory.count", { count: bead.memories.length })
          : shownContent(memory)}
      </p>
      <p className="text-meta text-muted">{day(dateOf(memory), timeZone)}</p>
    </div>
  );
}
