/** What a user wants to know about their memory, in plain words: how many, about what, how it grew, what was used. */

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo, useRef } from "react";
import { useMemories } from "../../data/memories.ts";
import { shownContent } from "../../data/shown-content.ts";
import { useUseCounts } from "../../data/uses.ts";
import { areaClass } from "../../features/memory/area-colours.ts";
import { listFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import { useWidth } from "../../ui/width.ts";
import { count, dayName, type Naming, top } from "./charts.ts";
import type { Day, Figures } from "./figures.ts";
import { type Facts, factsOf } from "./plain.ts";

/** Areas and memories that are listed. */
const MAX_LISTED = 6;

export function YourMemory({ figures, naming }: { figures: Figures; naming: Naming }) {
  const facts = useMemo(() => factsOf(figures), [figures]);
  return (
    <section aria-labelledby="your-memory" className="flex flex-col gap-4">
      <h2 id="your-memory" className="sr-only">
        {t("insights.yours")}
      </h2>
      <p className="max-w-5xl text-title font-normal leading-snug">
        {t("insights.yours.sum", {
          count: facts.now,
          areas: facts.areas,
          without: facts.areas > 0 ? facts.withoutArea : 0,
        })}{" "}
        <span className="text-muted">{changesOf(facts, figures.days.length)}</span>
      </p>
      <div className="grid gap-4 lg:grid-cols-3">
        <Panel title={t("insights.yours.grew")}>
          <Growth days={figures.days} />
        </Panel>
        <Panel title={t("insights.yours.areas")}>
          <Areas domains={figures.domains} naming={naming} />
        </Panel>
        <Panel title={t("insights.yours.used")}>
          <MostUsed />
        </Panel>
      </div>
    </section>
  );
}

/** "In the last 30 days 4 are new, you confirmed 2, and 1 was forgotten." Only what happened is said. */
function changesOf(facts: Facts, days: number): string {
  const parts = (["new", "confirmed", "corrected", "rejected", "forgotten"] as const)
    .filter((name) => facts[name] > 0)
    .map((name) => t(`insights.yours.${name}`, { count: facts[name] }));
  if (parts.length === 0) return t("insights.yours.quiet", { count: days });
  const list = listFormat(locale(), { type: "conjunction" }).format(parts);
  return t("insights.yours.changes", { count: days, list });
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className="flex min-w-0 flex-col gap-3 rounded-card border bg-surface p-4"
    >
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  );
}

const HEIGHT = 224;
const HEAD = 22;
const FOOT = 20;

/** The number of memories at the end of each day, with its first and its last value. */
function Growth({ days }: { days: readonly Day[] }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const values = days.map(({ memories }) => memories.strong + memories.tentative);
  const [first = 0, last = 0] = [values[0], values.at(-1)];
  const series = [{ name: "", values }];
  const names = days.map((one) => one.day);
  const high = top({
    id: "",
    title: "",
    help: "",
    kind: "columns",
    days: names,
    series,
    format: count,
    adds: false,
  });
  const x = (at: number) => (width * at) / Math.max(1, values.length - 1);
  const y = (value: number) => HEAD + (HEIGHT - HEAD) * (1 - value / high);
  // A day holds its value until the next.
  const line = values.map((value, at) => `${at === 0 ? "M0" : `H${x(at)}V`} ${y(value)}`).join("");
  const from = dayName(names[0] ?? "");
  const to = dayName(names.at(-1) ?? "");
  return (
    <div ref={place} dir="ltr" className="min-w-0">
      <svg
        role="img"
        aria-label={t("insights.yours.growth", { from, first, to, last })}
        width="100%"
        height={HEIGHT + FOOT}
        className="block overflow-visible"
      >
        <path
          d={`${line.replace("M0", `M0 ${HEIGHT}V`)}V${HEIGHT}Z`}
          className="fill-accent-soft"
        />
        <path d={line} strokeWidth={2} className="fill-none stroke-accent" />
        <line x1={0} x2={width} y1={HEIGHT} y2={HEIGHT} className="stroke-line" />
        {width > 0 && (
          <>
            <circle cx={x(values.length - 1)} cy={y(last)} r={4} className="fill-accent" />
            <text
              x={width}
              y={y(last) - 9}
              textAnchor="end"
              className="fill-ink text-meta font-semibold tabular-nums"
            >
              {count(last)}
            </text>
            <text x={0} y={y(first) - 9} className="fill-muted text-meta tabular-nums">
              {count(first)}
            </text>
            <text x={0} y={HEIGHT + 16} className="fill-muted text-fine">
              {from}
            </text>
            <text x={width} y={HEIGHT + 16} textAnchor="end" className="fill-muted text-fine">
              {to}
            </text>
          </>
        )}
      </svg>
    </div>
  );
}

function Areas({ domains, naming }: { domains: Figures["domains"]; naming: Naming }) {
  const most = Math.max(1, ...domains.map((one) => one.memories));
  // Memories without an area are last, however many they are.
  const ordered = [...domains.filter((one) => one.domain), ...domains.filter((one) => !one.domain)];
  const shown = ordered.slice(0, MAX_LISTED);
  const rest = ordered.slice(MAX_LISTED).reduce((sum, one) => sum + one.memories, 0);
  return (
    <ul className="flex flex-col gap-2">
      {shown.map(({ domain, memories }) => (
        <li key={domain ?? ""} className="flex flex-col gap-1">
          <span className="flex items-baseline justify-between gap-3">
            <Link
              to="/memory"
              search={{ domain: domain ?? "none" }}
              className="min-w-0 truncate rounded-sm text-ink no-underline hover:underline pointer-coarse:py-3"
            >
              {domain ? naming(domain) : t("memory.noDomain")}
            </Link>
            <span className="text-muted tabular-nums">{count(memories)}</span>
          </span>
          <svg
            aria-hidden
            width="100%"
            height={6}
            className={classes("block", areaClass(domain ?? ""))}
          >
            <rect width="100%" height={6} rx={3} className="fill-sunken" />
            <rect
              width={`${(100 * memories) / most}%`}
              height={6}
              rx={3}
              className="fill-current"
            />
          </svg>
        </li>
      ))}
      {rest > 0 && (
        <li className="text-meta text-muted">{t("insights.yours.more", { count: rest })}</li>
      )}
    </ul>
  );
}

/** The memories that recent answers used most. */
function MostUsed() {
  const uses = useUseCounts(true);
  const { byId } = useMemories();
  const most = [...(uses.data ?? [])]
    .flatMap(([id, answers]) => {
      const memory = byId.get(id);
      return memory?.status === "active" ? [{ memory, answers }] : [];
    })
    .sort((a, b) => b.answers - a.answers)
    .slice(0, MAX_LISTED);
  if (!uses.data) return null;
  if (most.length === 0) return <p className="text-muted">{t("insights.yours.unused")}</p>;
  return (
    <ol className="flex flex-col gap-2">
      {most.map(({ memory, answers }) => (
        <li key={memory.id} className="flex items-baseline justify-between gap-3">
          <Link
            to="/memory/$id"
            params={{ id: memory.id }}
            dir="auto"
            className="line-clamp-2 min-w-0 rounded-sm text-ink no-underline hover:underline pointer-coarse:py-2"
          >
            {shownContent(memory)}
          </Link>
          <span className="shrink-0 text-meta text-muted tabular-nums">
            {t("insights.yours.answers", { count: answers })}
          </span>
        </li>
      ))}
    </ol>
  );
}
