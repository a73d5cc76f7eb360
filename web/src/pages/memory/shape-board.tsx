/** The beads as SVG. The shape of a bead is its certainty, its colour where it came from. */
import type { MemoryView } from "lukasa-client";
import { memo, useContext, useState } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { type Source, sourceOf } from "../../data/select.ts";
import { DomainNames } from "../../features/memory/labels.ts";
import { domainName } from "../../i18n/domains.ts";
import { locale, t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import type { Bead, Lane, Span, TimeOf } from "./shape-layout.ts";

const RADIUS = 6.5;
const AXIS = 24;
/** Height of the name of a lane, above its beads. */
const NAME = 20;
const TICK_WIDTH = 130;
const DAY_MS = 86_400_000;

export const SOURCE_COLOURS: Record<Source, string> = {
  said: "text-accent",
  assistant: "text-good",
  inferred: "text-warn",
  imported: "text-strong-line",
};

export function BeadBoard({
  lanes,
  width,
  span,
  scale,
  dateOf,
  current,
  onFocus,
  onOpen,
}: {
  lanes: readonly Lane[];
  width: number;
  span: Span;
  scale: number;
  /** The date that a bead shows. */
  dateOf: TimeOf;
  current: string | undefined;
  onFocus: (id: string) => void;
  onOpen: (id: string) => void;
}) {
  const names = useContext(DomainNames);
  const { timeZone } = usePreferences();
  const [pointed, setPointed] = useState<{ bead: Bead; top: number }>();
  const nameOf = (domain: string) =>
    domain ? (names.get(domain) ?? domainName(domain)) : t("memory.noDomain");
  const topOf = (at: number) => AXIS + (lanes[at]?.top ?? 0) + at * NAME;
  const last = lanes.at(-1);
  const height = topOf(lanes.length - 1) + (last?.height ?? 0) + NAME;
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
        className="block rounded-card bg-sunken"
      >
        <Axis span={span} width={width} height={height} />
        {lanes.map((lane, at) => (
          // biome-ignore lint/a11y/useSemanticElements: there are no field sets in SVG
          // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of SVG is not interactive
          <g
            key={lane.domain}
            role="group"
            aria-label={t("memory.shape.lane", { area: nameOf(lane.domain), count: lane.count })}
            transform={`translate(0 ${topOf(at)})`}
          >
            <text x={12} y={14} className="fill-muted text-fine" aria-hidden>
              {nameOf(lane.domain)}
              <tspan className="fill-faint tabular-nums">
                {"  "}
                {new Intl.NumberFormat(locale()).format(lane.count)}
              </tspan>
            </text>
            <line
              x1={0}
              x2={width}
              y1={NAME + lane.height}
              y2={NAME + lane.height}
              className="stroke-line"
            />
            <g transform={`translate(0 ${NAME - lane.top})`}>
              <line
                x1={0}
                x2={width}
                y1={lane.string}
                y2={lane.string}
                strokeWidth={1.5}
                className="stroke-strong-line opacity-40"
              />
              {lane.beads.map((bead) => (
                <BeadMark
                  key={bead.id}
                  bead={bead}
                  scale={scale}
                  label={labelOf(bead, nameOf(lane.domain), dateOf, timeZone)}
                  current={bead.id === current}
                  onFocus={onFocus}
                  onOpen={onOpen}
                  onPoint={(on) =>
                    setPointed(on ? { bead, top: topOf(at) + NAME - lane.top + bead.y } : undefined)
                  }
                />
              ))}
            </g>
          </g>
        ))}
      </svg>
      {pointed && <BeadCard bead={pointed.bead} dateOf={dateOf} top={pointed.top} width={width} />}
    </div>
  );
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
  return t("memory.shape.one", { content: memory.content, area, when });
}

const BeadMark = memo(
  function BeadMark({
    bead,
    scale,
    label,
    current,
    onFocus,
    onOpen,
    onPoint,
  }: {
    bead: Bead;
    scale: number;
    label: string;
    current: boolean;
    onFocus: (id: string) => void;
    onOpen: (id: string) => void;
    onPoint: (on: boolean) => void;
  }) {
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
        transform={`translate(${bead.x} ${bead.y}) scale(${scale})`}
        onClick={() => onOpen(bead.id)}
        onFocus={() => {
          onFocus(bead.id);
          onPoint(true);
        }}
        onBlur={() => onPoint(false)}
        onPointerEnter={() => onPoint(true)}
        onPointerLeave={() => onPoint(false)}
        className={classes(
          "bead cursor-pointer outline-none focus-visible:[&>.ring]:opacity-100",
          SOURCE_COLOURS[sourceOf(memory)],
        )}
      >
        <circle r={many ? 16 : 9} className="fill-transparent" />
        <circle
          r={many ? 15.5 : 9.5}
          className="ring fill-none stroke-ink opacity-0"
          strokeWidth={2}
        />
        {many ? <ManyBeads count={bead.memories.length} /> : <OneBead memory={memory} />}
      </g>
    );
  },
  (was, is) => was.bead === is.bead && was.current === is.current && was.label === is.label,
);

function ManyBeads({ count }: { count: number }) {
  return (
    <>
      <circle r={12.5} className="fill-current" />
      <text textAnchor="middle" dy="0.35em" className="fill-surface text-fine font-medium">
        {count > 99 ? "99+" : count}
      </text>
    </>
  );
}

/** A rule is a diamond; what is certain is filled, what is likely is a ring, and a guess is dashed. */
export function OneBead({ memory }: { memory: Pick<MemoryView, "force" | "tier"> }) {
  if (memory.force === "hard")
    return (
      <rect
        x={-RADIUS}
        y={-RADIUS}
        width={RADIUS * 2}
        height={RADIUS * 2}
        rx={1.5}
        transform="rotate(45) scale(0.85)"
        className="fill-current"
      />
    );
  if (memory.tier === "strong") return <circle r={RADIUS} className="fill-current" />;
  return (
    <circle
      r={RADIUS - 1}
      className="fill-surface stroke-current"
      strokeWidth={2}
      strokeDasharray={memory.tier === "tentative" ? undefined : "2.5 2.5"}
    />
  );
}

function Axis({ span, width, height }: { span: Span; width: number; height: number }) {
  const { timeZone } = usePreferences();
  const count = Math.max(1, Math.floor(width / TICK_WIDTH));
  const length = span.to - span.from;
  const format = new Intl.DateTimeFormat(locale(), {
    timeZone: timeZone ?? undefined,
    ...(length < 2 * DAY_MS
      ? { hour: "numeric", minute: "2-digit" }
      : length < 200 * DAY_MS
        ? { day: "numeric", month: "short" }
        : { month: "short", year: "numeric" }),
  });
  return (
    <g aria-hidden>
      {Array.from({ length: count }, (_, at) => {
        const x = (width * (at + 0.5)) / count;
        const when = span.from + (length * (at + 0.5)) / count;
        return (
          <g key={x} transform={`translate(${x} 0)`}>
            <line y1={AXIS} y2={height} className="stroke-line" strokeDasharray="1 5" />
            <text y={16} textAnchor="middle" className="fill-faint text-fine tabular-nums">
              {format.format(when)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

const CARD_WIDTH = 280;

/** What a bead says, next to it. */
function BeadCard({
  bead,
  dateOf,
  top,
  width,
}: {
  bead: Bead;
  dateOf: TimeOf;
  top: number;
  width: number;
}) {
  const { timeZone } = usePreferences();
  const [memory] = bead.memories;
  if (!memory) return null;
  const left = Math.max(0, Math.min(width - CARD_WIDTH, bead.x - CARD_WIDTH / 2));
  return (
    <div
      aria-hidden
      style={{ left, top: top + 18, width: Math.min(CARD_WIDTH, width) }}
      className="pointer-events-none absolute z-10 rounded-control border bg-surface px-3 py-2 shadow-raised"
    >
      <p dir="auto" className="line-clamp-3">
        {bead.memories.length > 1
          ? t("memory.count", { count: bead.memories.length })
          : memory.content}
      </p>
      <p className="text-meta text-muted">{day(dateOf(memory), timeZone)}</p>
    </div>
  );
}
