/**
 * The SVG plot of a chart. The pointer or the arrow keys choose the day whose numbers are shown. Columns differ in
 * lightness as well as in colour, and lines in their dashes.
 */
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import { useWidth } from "../../ui/width.ts";
import { type Chart, count, dayName, top } from "./charts.ts";

const HEIGHT = 136;
const AXIS = 40;
/** Space above the highest value, so that its stroke is not clipped. */
const HEAD = 4;
/** Fills of columns: from dark to light, and then of another colour. There are at most three lines. */
const COLUMNS = [
  "fill-accent",
  "fill-accent opacity-55",
  "fill-accent opacity-25",
  "fill-warn",
  "fill-warn opacity-55",
  "fill-strong-line opacity-50",
];
const FILLS = ["fill-accent", "fill-good", "fill-warn"];
const STROKES = ["stroke-accent", "stroke-good", "stroke-warn"];
const DASHES = [undefined, "6 3", "2 3"];

export function Plot({
  chart,
  at: chosen,
  onAt,
}: {
  chart: Chart;
  /** The index of the chosen day; the latest is shown without a choice. */
  at: number | null;
  /** Null selects the latest day. */
  onAt: (at: number | null) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place) - AXIS;
  const last = chart.days.length - 1;
  const at = Math.min(chosen ?? last, last);
  const band = Math.max(0, width) / Math.max(1, chart.days.length);
  const high = top(chart);
  const y = (value: number) => HEAD + (HEIGHT - HEAD) * (1 - value / high);
  const point = (event: PointerEvent<HTMLDivElement>) => {
    const left = event.clientX - event.currentTarget.getBoundingClientRect().left - AXIS;
    onAt(Math.min(last, Math.max(0, Math.floor(left / band))));
  };
  const press = (event: KeyboardEvent) => {
    const to = MOVES[event.key]?.(at, last);
    if (to === undefined) return;
    event.preventDefault();
    onAt(Math.min(last, Math.max(0, to)));
  };
  return (
    <div
      ref={place}
      role="slider"
      tabIndex={0}
      aria-label={t("insights.choose", { chart: chart.title })}
      aria-valuemin={1}
      aria-valuemax={last + 1}
      aria-valuenow={at + 1}
      aria-valuetext={dayText(chart, at)}
      dir="ltr"
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => onAt(null)}
      onKeyDown={press}
      className="touch-pan-y rounded-control select-none"
    >
      <svg aria-hidden="true" width="100%" height={HEIGHT + 20} className="block overflow-visible">
        {[high, high / 2, 0].map((value) => (
          <g key={value}>
            <line
              x1={AXIS}
              x2={AXIS + Math.max(0, width)}
              y1={y(value)}
              y2={y(value)}
              className="stroke-line"
            />
            <text
              x={AXIS - 6}
              y={y(value)}
              dy="0.35em"
              textAnchor="end"
              className="fill-muted text-fine tabular-nums"
            >
              {chart.whole ? chart.format(value) : short(value)}
            </text>
          </g>
        ))}
        {width > 0 && (
          <g transform={`translate(${AXIS} 0)`}>
            {chosen !== null && (
              <rect x={at * band} y={0} width={band} height={HEIGHT} className="fill-active" />
            )}
            {chart.kind === "columns" ? (
              <Columns chart={chart} band={band} y={y} />
            ) : (
              <Lines chart={chart} band={band} y={y} at={at} />
            )}
            <Days chart={chart} band={band} at={at} />
          </g>
        )}
      </svg>
    </div>
  );
}

const MOVES: Record<string, ((at: number, last: number) => number) | undefined> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at - 1,
  ArrowUp: (at) => at + 1,
  PageDown: (at) => at - 7,
  PageUp: (at) => at + 7,
  Home: () => 0,
  End: (_, last) => last,
};

/** The values of a day as text: "15 Nov 2026: strong 120, tentative 14". */
export function dayText(chart: Chart, at: number): string {
  const values = chart.series.map(({ name, values }) => {
    const value = values[at];
    return `${name} ${value === null || value === undefined ? t("insights.none") : chart.format(value)}`;
  });
  return `${dayName(chart.days[at] ?? "", "long")}: ${values.join(", ")}`;
}

interface Drawing {
  chart: Chart;
  band: number;
  y: (value: number) => number;
}

/** One path for each series: ninety days of many charts would be thousands of elements. */
function Columns({ chart, band, y }: Drawing) {
  const gap = band > 8 ? 3 : band > 4 ? 1 : 0;
  const below = chart.days.map(() => 0);
  return chart.series.map(({ name, values }, which) => {
    const bars = values.map((value, at) => {
      if (!value || value < 0) return "";
      const from = below[at] ?? 0;
      below[at] = from + value;
      const height = Math.max(1, y(from) - y(from + value));
      const across = Math.max(0.5, band - gap);
      return `M${at * band + gap / 2} ${y(from + value)}h${across}v${height}h${-across}z`;
    });
    return <path key={name} d={bars.join("")} className={fillOf(chart, which)} />;
  });
}

function fillOf(chart: Chart, which: number): string | undefined {
  const colour = chart.series[which]?.colour;
  return colour ? `fill-current ${colour}` : COLUMNS[which];
}

function Lines({ chart, band, y, at }: Drawing & { at: number }) {
  const x = (day: number) => (day + 0.5) * band;
  return chart.series.map(({ name, values }, which) => (
    <g key={name}>
      <path
        d={runs(values)
          .map((run) => run.map(([day, v], n) => `${n ? "L" : "M"}${x(day)} ${y(v)}`).join(""))
          .join("")}
        fill="none"
        strokeWidth={1.75}
        strokeLinejoin="round"
        strokeDasharray={DASHES[which]}
        className={STROKES[which]}
      />
      {/* A single day between days without a value has no line, so it is drawn as a dot. */}
      {runs(values).map(([[day, v] = [0, 0], second]) =>
        second ? null : <circle key={day} cx={x(day)} cy={y(v)} r={2.5} className={FILLS[which]} />,
      )}
      {typeof values[at] === "number" && (
        <circle
          cx={x(at)}
          cy={y(values[at] ?? 0)}
          r={3.5}
          strokeWidth={1.5}
          className={classes(FILLS[which], "stroke-surface")}
        />
      )}
    </g>
  ));
}

/** Runs of consecutive days with a value. */
function runs(values: readonly (number | null)[]): [number, number][][] {
  const found: [number, number][][] = [];
  let open = false;
  for (const [day, value] of values.entries()) {
    if (value === null) open = false;
    else if (open) found.at(-1)?.push([day, value]);
    else {
      found.push([[day, value]]);
      open = true;
    }
  }
  return found;
}

/** Width of a day label, in pixels. */
const LABEL_WIDTH = 48;

/** Labels of the first and last day, and of the chosen day at its place. */
function Days({ chart, band, at }: { chart: Chart; band: number; at: number }) {
  const last = chart.days.length - 1;
  const width = band * (last + 1);
  const here = Math.min(width - LABEL_WIDTH / 2, Math.max(LABEL_WIDTH / 2, (at + 0.5) * band));
  const name = (day: number) => dayName(chart.days[day] ?? "");
  return (
    <g className="text-fine">
      {here > LABEL_WIDTH * 1.6 && (
        <text x={0} y={HEIGHT + 15} className="fill-muted">
          {name(0)}
        </text>
      )}
      {here < width - LABEL_WIDTH * 1.6 && (
        <text x={width} y={HEIGHT + 15} textAnchor="end" className="fill-muted">
          {name(last)}
        </text>
      )}
      <text x={here} y={HEIGHT + 15} textAnchor="middle" className="fill-ink font-medium">
        {name(at)}
      </text>
    </g>
  );
}

/** The legend symbol of a series. */
export function Sign({ chart, which }: { chart: Chart; which: number }) {
  return (
    <svg aria-hidden="true" width="14" height="10" className="shrink-0">
      {chart.kind === "lines" ? (
        <line
          x1="0"
          x2="14"
          y1="5"
          y2="5"
          strokeWidth="2"
          strokeDasharray={DASHES[which]}
          className={STROKES[which]}
        />
      ) : (
        <rect x="2" width="10" height="10" rx="2" className={fillOf(chart, which)} />
      )}
    </svg>
  );
}

/** A number short enough for an axis: 12k. */
function short(value: number): string {
  if (value < 1_000) return value < 1 ? String(Number(value.toPrecision(2))) : count(value);
  return `${count(value / 1_000)}k`;
}
