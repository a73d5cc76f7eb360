/** The board of beads as a table, and the meaning of shapes and colours. */
import type { MemoryView } from "lukasa-client";
import { useContext } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { DomainNames } from "../../features/memory/labels.ts";
import { domainName } from "../../i18n/domains.ts";
import { locale, t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";
import { Table } from "../../ui/table.tsx";
import { OneBead, SOURCE_COLOURS } from "./shape-board.tsx";
import { countsOf, type Span, type TimeOf } from "./shape-layout.ts";

const PERIODS = 12;

/** The number of memories of each area, in twelve periods of the visible span. */
export function ShapeTable({
  memories,
  areas,
  span,
  until,
  timeOf,
}: {
  memories: readonly MemoryView[];
  areas: readonly string[];
  span: Span;
  until: number;
  timeOf: TimeOf;
}) {
  const names = useContext(DomainNames);
  const { timeZone } = usePreferences();
  const number = new Intl.NumberFormat(locale());
  const rows = countsOf(memories, areas, span, until, PERIODS, timeOf).reverse();
  return (
    <Card flush>
      <Table
        label={t("memory.shape.label")}
        rows={rows}
        rowKey={(row) => String(row.from)}
        columns={[
          {
            key: "from",
            title: t("memory.shape.from"),
            cell: (row) => <span className="whitespace-nowrap">{day(row.from, timeZone)}</span>,
          },
          ...areas.map((area, at) => ({
            key: area,
            title: area ? (names.get(area) ?? domainName(area)) : t("memory.noDomain"),
            number: true,
            cell: (row: (typeof rows)[number]) => number.format(row.counts[at] ?? 0),
          })),
        ]}
      />
    </Card>
  );
}

const SHAPES = [
  { key: "shell.force.hard", force: "hard", tier: "strong" },
  { key: "shell.tier.strong", force: "soft", tier: "strong" },
  { key: "shell.tier.tentative", force: "soft", tier: "tentative" },
  { key: "shell.tier.candidate", force: "soft", tier: "candidate" },
] as const;

export function BeadLegend() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 pt-3 text-meta text-muted">
      {SHAPES.map(({ key, force, tier }) => (
        <li key={key} className="inline-flex items-center gap-1.5">
          <svg viewBox="-9 -9 18 18" className="size-4 text-muted" aria-hidden>
            <OneBead memory={{ force, tier }} />
          </svg>
          {t(key)}
        </li>
      ))}
      {(["said", "assistant", "inferred", "imported"] as const).map((source) => (
        <li key={source} className="inline-flex items-center gap-1.5">
          <svg viewBox="-9 -9 18 18" className={`size-4 ${SOURCE_COLOURS[source]}`} aria-hidden>
            <rect x={-6} y={-3} width={12} height={6} rx={3} className="fill-current" />
          </svg>
          {t(`shell.origin.${source}`)}
        </li>
      ))}
    </ul>
  );
}
