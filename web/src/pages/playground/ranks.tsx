/**
 * Ranking: the rank of each memory by arm, after fusion, and after the reranker. Shown as lines, or as a table
 * of exact numbers.
 */
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { numberFormat } from "../../i18n/formats.ts";
import { locale, nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { isReranked, type Outcome, type Row, type TurnPlace } from "./requests.ts";

/** Pixels: height of a rank, distance between arms, and padding beside the first and the last. */
const WIDE = { lane: 48, step: 64, edge: 28 };
const NARROW = { lane: 52, step: 46, edge: 22 };
/** So many lines are strong before one is pointed at: more of them only cross each other. */
const STRONG_LINES = 3;

interface Stage {
  name: string;
  rank: (row: Row) => number | undefined;
}

/** The columns. Those that say nothing are left out: without vector ranks, and without another order. */
function stages(rows: readonly Row[]): Stage[] {
  const vectors = rows.some((row) => row.arms.has("vector"));
  const reranked = isReranked(rows);
  return [
    { name: t("playground.stage.keyword"), rank: (row) => row.arms.get("keyword")?.rank },
    ...(vectors
      ? [{ name: t("playground.stage.vector"), rank: (row: Row) => row.arms.get("vector")?.rank }]
      : []),
    { name: t("playground.stage.fused"), rank: (row) => row.fused },
    ...(reranked ? [{ name: t("playground.stage.reranked"), rank: (row: Row) => row.last }] : []),
  ];
}

export function Ranks({
  label,
  rows,
  table,
}: {
  label: string;
  rows: readonly Row[];
  table: boolean;
}) {
  if (rows.length === 0) return null;
  return table ? <RankTable label={label} rows={rows} /> : <RankLines label={label} rows={rows} />;
}

/** Lines from arm to arm. Ranks below the last lane are drawn on the lane under it, with their number. */
function RankLines({ label, rows }: { label: string; rows: readonly Row[] }) {
  const [near, setNear] = useState<string>();
  const columns = stages(rows);
  const narrow = useNarrow();
  const { lane, step, edge } = narrow ? NARROW : WIDE;
  const width = edge * 2 + step * (columns.length - 1);
  const below = rows.some((row) => columns.some(({ rank }) => (rank(row) ?? 0) > rows.length));
  const lanes = rows.length + (below ? 1 : 0);
  const mirrored = document.documentElement.dir === "rtl";
  const x = (at: number) => (mirrored ? width - edge - at * step : edge + at * step);
  // The last column is in the order of the texts.
  const laneOf = (row: Row, rank: number, at: number) =>
    at === columns.length - 1 ? row.last : Math.min(rank, lanes);
  const y = (place: number) => (place - 0.5) * lane;
  return (
    <div className="flex flex-col">
      <div className="flex items-end border-b pb-1 text-fine text-muted">
        <div className="relative h-5 shrink-0" style={{ width }}>
          {columns.map((column, at) => (
            <span
              key={column.name}
              className="absolute bottom-0 w-20 -translate-x-1/2 text-center max-sm:text-fine"
              style={{ left: x(at) }}
            >
              {column.name}
            </span>
          ))}
        </div>
        <span className="ps-4 max-sm:text-fine">{label}</span>
      </div>
      <div className="flex">
        <svg
          aria-hidden="true"
          width={width}
          height={lanes * lane}
          className="shrink-0 overflow-visible"
        >
          {[...rows]
            .sort((a, b) => Number(a.id === near) - Number(b.id === near))
            .map((row) => (
              <RankLine
                key={row.id}
                points={columns.flatMap(({ rank }, at) => {
                  const number = rank(row);
                  return number === undefined
                    ? []
                    : [{ x: x(at), y: y(laneOf(row, number, at)), number }];
                })}
                went={row.outcome.kind === "in" || row.outcome.kind === "baseline"}
                near={near === row.id}
                dim={near === undefined ? row.last > STRONG_LINES : near !== row.id}
              />
            ))}
        </svg>
        <ol aria-label={label} className="min-w-0 flex-1">
          {rows.map((row) => (
            <li
              key={row.id}
              className={classes(
                "flex h-12 min-w-0 flex-col items-start justify-center gap-0.5 rounded-control ps-4 max-sm:h-[52px]",
                near === row.id && "bg-hover",
              )}
              onPointerEnter={() => setNear(row.id)}
              onPointerLeave={() => setNear(undefined)}
              onFocus={() => setNear(row.id)}
              onBlur={() => setNear(undefined)}
            >
              <RowName row={row} />
              <span className="sr-only">{path(row, columns)}</span>
              <OutcomeBadge outcome={row.outcome} />
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

const PHONE = "(max-width: 639px)";

function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(PHONE);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(PHONE).matches,
  );
}

function RankLine({
  points,
  went,
  near,
  dim,
}: {
  points: readonly { x: number; y: number; number: number }[];
  went: boolean;
  near: boolean;
  dim: boolean;
}) {
  return (
    <g>
      {points.slice(1).map((to, at) => {
        const from = points[at] ?? to;
        const half = (from.x + to.x) / 2;
        return (
          <path
            key={to.x}
            d={`M${from.x} ${from.y}C${half} ${from.y} ${half} ${to.y} ${to.x} ${to.y}`}
            fill="none"
            strokeWidth={near ? 2.5 : 1.5}
            strokeDasharray={went ? undefined : "3 3"}
            className={classes(
              "transition-opacity",
              went ? "stroke-accent" : "stroke-strong-line",
              dim && "opacity-20",
            )}
          />
        );
      })}
      {points.map((point) => (
        <g key={point.x}>
          <circle
            cx={point.x}
            cy={point.y}
            r={10}
            className={classes(
              went ? "fill-accent stroke-accent" : "fill-surface stroke-strong-line",
            )}
          />
          <text
            x={point.x}
            y={point.y}
            dy="0.35em"
            textAnchor="middle"
            className={classes("text-fine tabular-nums", went ? "fill-on-accent" : "fill-ink")}
          >
            {point.number}
          </text>
        </g>
      ))}
    </g>
  );
}

/** The ranks as text for screen readers: "keyword 3, fused 2, …". */
function path(row: Row, columns: readonly Stage[]): string {
  return columns
    .map(({ name, rank }) => `${name} ${rank(row) ?? t("playground.rank.none")}`)
    .join(", ");
}

function RankTable({ label, rows }: { label: string; rows: readonly Row[] }) {
  const named = new Set(rows.flatMap((row) => [...row.arms.keys()]));
  // Keyword and vector first, as in the lines.
  const arms = [...new Set(["keyword", "vector", ...named])].filter((arm) => named.has(arm));
  const columns: Column<Row>[] = [
    { key: "last", title: t("playground.rank"), number: true, cell: (row) => row.last },
    { key: "name", title: label, cell: (row) => <RowName row={row} wrap /> },
    {
      key: "outcome",
      title: t("playground.outcome"),
      cell: (row) => <OutcomeBadge outcome={row.outcome} />,
    },
    {
      key: "relevance",
      title: t("playground.relevance"),
      number: true,
      cell: (row) => <span className="whitespace-nowrap">{figure(row.relevance, 3)}</span>,
    },
    {
      key: "score",
      title: t("playground.score"),
      number: true,
      cell: (row) => <span className="whitespace-nowrap">{figure(row.score, 3)}</span>,
    },
    { key: "fused", title: t("playground.stage.fused"), number: true, cell: (row) => row.fused },
    ...arms.map((arm) => ({
      key: arm,
      title: armName(arm),
      number: true,
      cell: (row: Row) => <Arm found={row.arms.get(arm)} />,
    })),
    {
      key: "matched",
      title: t("playground.matched"),
      cell: (row) => (
        <span dir="auto" className="whitespace-nowrap">
          {row.matched.join(", ")}
        </span>
      ),
    },
  ];
  const whole = columns.map((column) => ({
    ...column,
    title: <span className="whitespace-nowrap">{column.title}</span>,
  }));
  return <Table label={label} columns={whole} rows={rows} rowKey={(row) => row.id} />;
}

function Arm({ found }: { found: { rank: number; score: number } | undefined }) {
  if (!found) return <span className="text-faint">{t("playground.rank.none")}</span>;
  return (
    <span className="whitespace-nowrap">
      {found.rank} <span className="text-fine text-muted">{figure(found.score, 3)}</span>
    </span>
  );
}

/** The text of a row, with a link to the memory or turn. */
export function RowName({
  row,
  wrap,
}: {
  row: Pick<Row, "id" | "what" | "text" | "place">;
  wrap?: boolean;
}): ReactNode {
  const look = classes(
    "min-w-0 rounded-sm",
    wrap ? "block min-w-72 text-start" : "max-w-full truncate",
  );
  if (row.what === "turn") {
    return (
      <span dir="auto" className={look} title={row.text}>
        {row.place ? <TurnLink place={row.place}>{row.text}</TurnLink> : row.text}
      </span>
    );
  }
  return (
    <Link
      to="/memory/$id"
      params={{ id: row.id }}
      title={row.text}
      dir="auto"
      className={classes(look, "underline-offset-2 hover:underline")}
    >
      {row.text}
    </Link>
  );
}

/** A link to a turn. */
export function TurnLink({ place, children }: { place: TurnPlace; children: ReactNode }) {
  return (
    <Link
      to="/sources"
      search={{ view: "chats", ...place }}
      className="rounded-sm underline-offset-2 hover:underline"
    >
      {children}
    </Link>
  );
}

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  if (outcome.kind === "in") return <Badge tone="accent">{outcome.mark}</Badge>;
  if (outcome.kind === "baseline") {
    return (
      <Badge tone="accent">
        {outcome.mark} · {t("playground.outcome.baseline")}
      </Badge>
    );
  }
  if (outcome.kind === "out") return <Badge>{reasonLabel(outcome.reason)}</Badge>;
  return <Badge>{t("playground.outcome.unasked")}</Badge>;
}

/** The reason for leaving something out, translated if it is known. */
export function reasonLabel(reason: string): string {
  const key = `playground.reason.${reason.replace(/[^a-z]+/gi, "-")}`;
  return nameText(key, reason);
}

function armName(arm: string): string {
  const key = `playground.arm.${arm}`;
  return nameText(key, arm);
}

export function figure(value: number, digits: number): string {
  return numberFormat(locale(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}
