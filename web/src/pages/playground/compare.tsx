/** Comparison of two settings: numbers, and the lines of only one of them. */
import type { ContextView } from "lukasa-client";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Table } from "../../ui/table.tsx";
import { useAnswers } from "./answers.ts";
import type { Setting } from "./params.ts";
import { exclusionsOf, onlyIn, total } from "./requests.ts";
import { milliseconds } from "./result.tsx";

export const NAMES = ["A", "B"] as const;

export function Comparison({ query, a, b }: { query: string; a: Setting; b: Setting }) {
  const one = useAnswers(query, a).data?.context;
  const two = useAnswers(query, b).data?.context;
  if (!one || !two) return null;
  const count = (value: number) => t("playground.number", { count: value });
  const rows: { name: string; of: (context: ContextView) => string }[] = [
    {
      name: t("playground.compare.used"),
      of: ({ budget }) => t("shell.budget.of", { used: budget.used, limit: budget.limit }),
    },
    { name: t("playground.compare.baseline"), of: ({ budget }) => count(budget.baseline) },
    { name: t("playground.compare.dynamic"), of: ({ budget }) => count(budget.dynamic) },
    {
      name: t("playground.compare.in"),
      of: ({ baseline, dynamic }) => count(baseline.citations.length + dynamic.citations.length),
    },
    {
      name: t("playground.compare.out"),
      of: (context) => count(exclusionsOf(context).filter((one) => !one.mark).length),
    },
    { name: t("playground.timing"), of: (context) => milliseconds(total(context.took_ms)) },
  ];
  return (
    <Card title={t("playground.compare.title")} flush>
      <div className="grid lg:grid-cols-[minmax(0,32rem)_minmax(0,1fr)]">
        <Table
          label={t("playground.compare.title")}
          rows={rows}
          rowKey={(row) => row.name}
          columns={[
            {
              key: "name",
              title: "",
              cell: (row) => <span className="[overflow-wrap:normal]">{row.name}</span>,
            },
            { key: "a", title: NAMES[0], number: true, cell: (row) => row.of(one) },
            { key: "b", title: NAMES[1], number: true, cell: (row) => row.of(two) },
          ]}
        />
        <div className="grid content-start gap-x-6 gap-y-3 p-4 max-lg:border-t max-lg:sm:grid-cols-2 lg:border-s">
          {JSON.stringify(a) === JSON.stringify(b) && (
            <p className="text-muted sm:col-span-2 lg:col-span-1">{t("playground.compare.same")}</p>
          )}
          <LinesOnlyIn name={NAMES[0]} lines={onlyIn(one, two)} />
          <LinesOnlyIn name={NAMES[1]} lines={onlyIn(two, one)} />
        </div>
      </div>
    </Card>
  );
}

function LinesOnlyIn({ name, lines }: { name: string; lines: ContextView["soft"] }) {
  return (
    <section aria-label={t("playground.compare.only", { name })} className="min-w-0">
      <h3 className="pb-1 text-fine text-muted">{t("playground.compare.only", { name })}</h3>
      {lines.length === 0 && <p className="text-muted">{t("playground.compare.nothing")}</p>}
      <ul className="flex flex-col gap-1">
        {lines.map((line) => (
          <li key={line.mark} className="flex items-start gap-2">
            <Badge tone="accent">{line.mark}</Badge>
            <span dir="auto" className="min-w-0">
              {line.text}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
