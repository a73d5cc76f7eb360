/** Converts daily counts to charts, headlines and CSV. Pure. */
import { areaClass } from "../../features/memory/area-colours.ts";
import { dateFormat, numberFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import type { Day } from "./figures.ts";

export interface Series {
  name: string;
  /** The text class of its colour, if the colour means something; in the order of the chart otherwise. */
  colour?: string;
  /** One value per day; null where there was nothing to measure. */
  values: readonly (number | null)[];
}

export interface Chart {
  id: string;
  title: string;
  help: string;
  /** Stacked parts of a sum, or independent values. */
  kind: "columns" | "lines";
  days: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  /** A fixed upper end of the axis, such as 100 %. */
  whole?: number;
  /** Whether the days add up: what happened on each, rather than how it was at its end. */
  adds: boolean;
}

/** Charts of what there was at the end of each day. */
const LEVELS: readonly ChartId[] = ["known"];

type ChartId =
  | "known"
  | "new"
  | "answers"
  | "rates"
  | "asked"
  | "recall"
  | "kept"
  | "tokens"
  | "calls"
  | "model"
  | "cost";

export type Section = { title: string; charts: Chart[] };

/** The display name of a domain; its API name by default. */
export type Naming = (domain: string) => string;

export function sectionsOf(days: readonly Day[], naming: Naming = (domain) => domain): Section[] {
  const shares = { half: percent(0.5), most: percent(0.95), nearly: percent(0.99) };
  const make = (
    id: ChartId,
    kind: Chart["kind"],
    series: Record<string, (day: Day) => number | null>,
    format = count,
    whole?: number,
  ): Chart => ({
    id,
    title: t(`insights.${id}`),
    help: t(`insights.${id}.help`, shares),
    kind,
    days: days.map((one) => one.day),
    series: Object.entries(series).map(([name, of]) => ({ name, values: days.map(of) })),
    format,
    whole,
    adds: kind === "columns" && !LEVELS.includes(id),
  });
  const rates = ratesOf(days);
  return [
    {
      title: t("insights.section.memory"),
      charts: [
        make("known", "columns", {
          [t("shell.tier.strong")]: (day) => day.memories.strong,
          [t("shell.tier.tentative")]: (day) => day.memories.tentative,
          [t("shell.tier.candidate")]: (day) => day.memories.candidate,
        }),
        byDomain(days, naming),
        make("new", "columns", {
          [t("insights.saved")]: (day) => day.saved,
          [t("insights.learned")]: (day) => day.learned,
          [t("insights.proposed")]: (day) => day.proposed,
        }),
        make("answers", "columns", {
          [t("insights.confirmed")]: (day) => day.confirmed,
          [t("insights.corrected")]: (day) => day.corrected,
          [t("insights.rejected")]: (day) => day.rejected,
          [t("insights.forgotten")]: (day) => day.forgotten,
        }),
        make(
          "rates",
          "lines",
          {
            [t("insights.confirmed")]: (day) => rates.get(day)?.confirmed ?? null,
            [t("insights.corrected")]: (day) => rates.get(day)?.corrected ?? null,
            [t("insights.rejected")]: (day) => rates.get(day)?.rejected ?? null,
          },
          percent,
          1,
        ),
      ],
    },
    {
      title: t("insights.section.recall"),
      charts: [
        make(
          "recall",
          "lines",
          {
            p50: (day) => day.recall_ms?.p50 ?? null,
            p95: (day) => day.recall_ms?.p95 ?? null,
            p99: (day) => day.recall_ms?.p99 ?? null,
          },
          milliseconds,
        ),
        make("kept", "columns", {
          [t("insights.frozen")]: (day) => day.frozen,
          [t("insights.rebuilt")]: (day) => Math.max(0, day.retrievals - day.frozen),
        }),
        make("asked", "columns", {
          [t("insights.whole")]: (day) => Math.max(0, day.retrievals - day.degraded),
          [t("insights.degraded")]: (day) => day.degraded,
        }),
        make("tokens", "lines", {
          [t("insights.tokensEach")]: (day) => (day.retrievals > 0 ? day.tokens : null),
        }),
      ],
    },
    {
      title: t("insights.section.models"),
      charts: [
        make("calls", "columns", { [t("insights.callsEach")]: (day) => day.calls }),
        make("model", "columns", {
          [t("insights.input")]: (day) => day.input_tokens,
          [t("insights.output")]: (day) => day.output_tokens,
        }),
        make(
          "cost",
          "columns",
          { [t("insights.costEach")]: (day) => day.cost_micros / 1_000_000 },
          money,
        ),
      ],
    },
  ];
}

const WEEK = 7;

type Rates = { confirmed: number; corrected: number; rejected: number };

/** Shares of review answers in the week up to each day. A single day has too few. */
export function ratesOf(days: readonly Day[]): Map<Day, Rates> {
  const rates = new Map<Day, Rates>();
  for (const [at, day] of days.entries()) {
    const week = days.slice(Math.max(0, at + 1 - WEEK), at + 1);
    const sum = (of: keyof Rates) => week.reduce((all, one) => all + one[of], 0);
    const all = sum("confirmed") + sum("corrected") + sum("rejected");
    if (all === 0) continue;
    rates.set(day, {
      confirmed: sum("confirmed") / all,
      corrected: sum("corrected") / all,
      rejected: sum("rejected") / all,
    });
  }
  return rates;
}

/** Series that can be distinguished; the rest is combined into one more. */
const MAX_NAMED = 5;

/** Memories by domain: the largest of these days by name, and the rest combined. */
export function byDomain(days: readonly Day[], naming: Naming): Chart {
  const sizes = new Map<string, number>();
  for (const { domain, memories } of days.flatMap((day) => day.domains)) {
    if (domain) sizes.set(domain, (sizes.get(domain) ?? 0) + memories);
  }
  const largest = [...sizes].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
  const names = largest.slice(0, MAX_NAMED).map(([name]) => name);
  // If every domain is named, the rest are memories without a domain.
  const rest = t(largest.length > MAX_NAMED ? "insights.others" : "insights.noDomain");
  const series = (
    name: string,
    colour: string,
    own: (domain: string | null | undefined) => boolean,
  ): Series => ({
    name,
    colour,
    values: days.map((day) =>
      day.domains.reduce((sum, one) => sum + (own(one.domain) ? one.memories : 0), 0),
    ),
  });
  return {
    id: "by-domain",
    title: t("insights.byDomain"),
    help: t("insights.byDomain.help"),
    kind: "columns",
    days: days.map((one) => one.day),
    series: [
      ...names.map((name) => series(naming(name), areaClass(name), (domain) => domain === name)),
      series(rest, areaClass(""), (domain) => !domain || !names.includes(domain)),
    ],
    format: count,
    adds: false,
  };
}

/** A number for the whole period, and its goal. */
export interface Headline {
  id: string;
  name: string;
  value: string;
  goal?: { text: string; met: boolean };
}

/** Below this count a share says little, so its goal is not evaluated. */
const MIN_FOR_GOAL = 10;

export function headlines(days: readonly Day[]): Headline[] {
  const sum = (of: (day: Day) => number) => days.reduce((all, day) => all + of(day), 0);
  const last = days.at(-1);
  const known = last ? last.memories.strong + last.memories.tentative : 0;
  const retrievals = sum((day) => day.retrievals);
  const slowest = Math.max(0, ...days.map((day) => day.recall_ms?.p95 ?? 0));
  const reuse = share(
    sum((day) => day.frozen),
    retrievals,
  );
  const answered = sum((day) => day.confirmed + day.corrected + day.rejected);
  const accepted = share(
    sum((day) => day.confirmed),
    answered,
  );
  const corrected = share(
    sum((day) => day.corrected),
    answered,
  );
  const tokens = sum((day) => day.tokens * day.retrievals) / Math.max(1, retrievals);
  const cost = sum((day) => day.cost_micros) / 1_000_000;
  // A share of a few answers says nothing, so their number is shown.
  const shareOf = (part: number | undefined, among: number) =>
    among < MIN_FOR_GOAL && part !== undefined
      ? t("insights.of", { count: Math.round(part * among), of: among })
      : percent(part);
  const goal = (text: string, among: number, met: boolean) =>
    among < MIN_FOR_GOAL ? undefined : { text, met };
  return [
    { id: "known", name: t("insights.head.known"), value: count(known) },
    {
      id: "learned",
      name: t("insights.head.learned"),
      value: count(sum((day) => day.saved + day.learned)),
    },
    {
      id: "recall",
      name: t("insights.head.recall"),
      value: retrievals > 0 ? milliseconds(slowest) : NOTHING,
      goal: goal(t("insights.goal.recall"), retrievals, slowest < 300),
    },
    {
      id: "kept",
      name: t("insights.head.kept"),
      value: percent(reuse),
      goal: goal(t("insights.goal.kept", { share: percent(0.7) }), retrievals, (reuse ?? 0) > 0.7),
    },
    {
      id: "tokens",
      name: t("insights.head.tokens"),
      value: retrievals > 0 ? count(Math.round(tokens)) : NOTHING,
    },
    {
      id: "accepted",
      name: t("insights.head.accepted"),
      value: shareOf(accepted, answered),
      goal: goal(
        t("insights.goal.accepted", { share: percent(0.7) }),
        answered,
        (accepted ?? 0) > 0.7,
      ),
    },
    {
      id: "corrected",
      name: t("insights.head.corrected"),
      value: shareOf(corrected, answered),
      goal: goal(
        t("insights.goal.corrected", { share: percent(0.1) }),
        answered,
        (corrected ?? 0) < 0.1,
      ),
    },
    {
      id: "cost",
      name: t("insights.head.cost"),
      value: cost > 0 ? money(cost) : t("insights.noCost"),
    },
  ];
}

const NOTHING = "–";

function share(part: number, whole: number): number | undefined {
  return whole > 0 ? part / whole : undefined;
}

function percent(value: number | undefined): string {
  if (value === undefined) return NOTHING;
  return numberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(value);
}

export function count(value: number): string {
  return numberFormat(locale(), { maximumFractionDigits: 1 }).format(value);
}

function milliseconds(value: number): string {
  return t("insights.ms", { value: count(value) });
}

function money(value: number): string {
  return numberFormat(locale(), { maximumFractionDigits: 6 }).format(value);
}

/** The name of a day, which is in UTC. */
export function dayName(day: string, style: "short" | "long" = "short"): string {
  return dateFormat(locale(), {
    day: "numeric",
    month: "short",
    ...(style === "long" && { weekday: "short", year: "numeric" }),
    timeZone: "UTC",
  }).format(new Date(`${day}T00:00:00Z`));
}

const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The upper end of the axis: the next number that is easy to halve. */
export function top(chart: Chart): number {
  if (chart.whole) return chart.whole;
  const sums = chart.days.map((_, at) => {
    const values = chart.series.map((one) => one.values[at] ?? 0);
    return chart.kind === "columns"
      ? values.reduce((all, one) => all + one, 0)
      : Math.max(...values);
  });
  const highest = Math.max(0, ...sums);
  // Counts need an even upper end, so that the middle is a whole number.
  if (highest === 0) return chart.kind === "columns" ? 2 : 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  const next = STEPS.map((step) => step * power).find((step) => step >= highest - 1e-9);
  // Counts get an even upper end, so that the middle is a whole number.
  if (chart.kind === "columns" && highest >= 1 && highest <= 10) return 2 * Math.ceil(highest / 2);
  return Number((next ?? highest).toPrecision(3));
}

/** The value of a series over all days: their sum, or the latest. */
export function overallOf(chart: Chart, { values }: Series): number | null {
  if (!chart.adds) return values.at(-1) ?? null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** Whether the chart has no data. */
export function isEmpty(chart: Chart): boolean {
  return chart.series.every((one) => one.values.every((value) => !value));
}

/** A chart as CSV: plain numbers with a decimal point in every language. */
export function csvOf(chart: Chart): string {
  const lines = chart.days.map((day, at) => [
    day,
    ...chart.series.map((one) => String(one.values[at] ?? "")),
  ]);
  return csv([[t("insights.day"), ...chart.series.map((one) => one.name)], ...lines]);
}

/** Rows as CSV (RFC 4180). Text that a spreadsheet would run as a formula is escaped. */
export function csv(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => {
    const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
