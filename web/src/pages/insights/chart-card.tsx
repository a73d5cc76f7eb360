/** A chart with a legend that shows the numbers of the chosen day; also as a table and as CSV. */
import { Download, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { t } from "../../i18n/index.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Table } from "../../ui/table.tsx";
import { type Chart, csvOf, dayName, isEmpty, overallOf } from "./charts.ts";
import { Plot, Sign } from "./plot.tsx";

export function ChartCard({
  chart,
  tables,
  at,
  onAt,
}: {
  chart: Chart;
  /** Whether all charts are tables. */
  tables: boolean;
  /** The index of the chosen day. */
  at: number | null;
  onAt: (at: number | null) => void;
}) {
  const [own, setOwn] = useState<boolean>();
  const table = own ?? tables;
  return (
    <Figure
      title={chart.title}
      help={chart.help}
      table={table}
      onTable={() => setOwn(!table)}
      file={() => ({ name: chart.id, text: csvOf(chart) })}
    >
      {table ? (
        <div className="max-h-72 overflow-y-auto border-t">
          <Table
            label={chart.title}
            rows={chart.days.map((day, index) => ({ day, index })).reverse()}
            rowKey={(row) => row.day}
            columns={[
              {
                key: "day",
                title: t("insights.day"),
                cell: (row) => <span className="whitespace-nowrap">{dayName(row.day)}</span>,
              },
              ...chart.series.map((one) => ({
                key: one.name,
                title: <span className="whitespace-nowrap">{one.name}</span>,
                number: true,
                cell: (row: { index: number }) => figureOf(chart, one.values[row.index]),
              })),
            ]}
          />
        </div>
      ) : (
        <div className="flex flex-1 flex-col justify-between gap-3 px-4 pb-3">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-0.5 text-meta">
            <span className="w-full text-fine text-muted">{whenOf(chart, at)}</span>
            {chart.series.map((one, which) => (
              <span key={one.name} className="inline-flex items-center gap-1.5 text-muted">
                <Sign chart={chart} which={which} />
                <span>
                  {one.name}{" "}
                  <span className="text-ink tabular-nums">
                    {figureOf(chart, at === null ? overallOf(chart, one) : one.values[at])}
                  </span>
                </span>
              </span>
            ))}
          </div>
          <Plot chart={chart} at={at} onAt={onAt} />
          {isEmpty(chart) && <p className="text-meta text-muted">{t("insights.nothing")}</p>}
        </div>
      )}
    </Figure>
  );
}

/** The time that the numbers of the legend are of. */
function whenOf(chart: Chart, at: number | null): string {
  if (at !== null) return dayName(chart.days[at] ?? "", "long");
  return chart.adds
    ? t("insights.inAll", { count: chart.days.length })
    : dayName(chart.days.at(-1) ?? "", "long");
}

function figureOf(chart: Chart, value: number | null | undefined): string {
  return value === null || value === undefined ? t("insights.none") : chart.format(value);
}

/** The frame of a chart: title, help text, table switch and download. */
export function Figure({
  title,
  help,
  table,
  onTable,
  file,
  children,
}: {
  title: string;
  help: string;
  table: boolean;
  onTable: () => void;
  file: () => { name: string; text: string };
  children: ReactNode;
}) {
  return (
    <section
      aria-label={title}
      className="flex min-w-0 flex-col overflow-hidden rounded-card border bg-surface"
    >
      <div className="flex items-start justify-between gap-3 px-4 pt-3 pb-2">
        <div className="min-w-0">
          <h3 className="font-medium">{title}</h3>
          <p className="text-meta text-muted">{help}</p>
        </div>
        <div className="-me-1.5 flex shrink-0">
          <IconButton
            small
            label={t("insights.asTable")}
            aria-pressed={table}
            onClick={onTable}
            className="aria-pressed:bg-active aria-pressed:text-ink"
          >
            <Table2 size={15} aria-hidden />
          </IconButton>
          <IconButton small label={t("insights.csv")} onClick={() => download(file())}>
            <Download size={15} aria-hidden />
          </IconButton>
        </div>
      </div>
      {children}
    </section>
  );
}

function download({ name, text }: { name: string; text: string }): void {
  saveFile(`lukasa-${name}.csv`, text, "text/csv;charset=utf-8");
}
