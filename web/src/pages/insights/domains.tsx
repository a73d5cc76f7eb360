/** Current memories by domain, the largest first. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../../i18n/index.ts";
import { Table } from "../../ui/table.tsx";
import { Figure } from "./chart-card.tsx";
import { count, csv, type Naming } from "./charts.ts";
import type { Figures } from "./figures.ts";

const MAX_DOMAINS = 10;

export function TopDomains({
  domains,
  naming,
  tables,
}: {
  domains: Figures["domains"];
  naming: Naming;
  tables: boolean;
}) {
  const [own, setOwn] = useState<boolean>();
  const table = own ?? tables;
  const name = (one: Figures["domains"][number]) =>
    one.domain ? naming(one.domain) : t("insights.noDomain");
  const most = Math.max(1, ...domains.map((one) => one.memories));
  return (
    <Figure
      title={t("insights.domains")}
      help={t("insights.domains.help")}
      table={table}
      onTable={() => setOwn(!table)}
      file={() => ({
        name: "domains",
        text: csv([
          [t("insights.domain"), t("insights.memories")],
          ...domains.map((one) => [name(one), String(one.memories)]),
        ]),
      })}
    >
      {table ? (
        <div className="max-h-72 overflow-y-auto border-t">
          <Table
            label={t("insights.domains")}
            rows={domains}
            rowKey={(one) => one.domain ?? ""}
            columns={[
              { key: "domain", title: t("insights.domain"), cell: name },
              {
                key: "memories",
                title: t("insights.memories"),
                number: true,
                cell: (one) => count(one.memories),
              },
            ]}
          />
        </div>
      ) : (
        <ul className="flex flex-col gap-1.5 px-4 pb-4">
          {domains.slice(0, MAX_DOMAINS).map((one) => (
            <li
              key={one.domain ?? ""}
              className="grid grid-cols-[8rem_1fr_auto] items-center gap-3"
            >
              {one.domain ? (
                <Link
                  to="/memory"
                  search={{ domain: one.domain }}
                  className="truncate rounded-sm underline-offset-2 hover:underline pointer-coarse:py-3"
                >
                  {name(one)}
                </Link>
              ) : (
                <span className="truncate text-muted">{name(one)}</span>
              )}
              <span aria-hidden className="h-2.5 rounded-full bg-sunken">
                <span
                  className={
                    one.domain
                      ? "block h-2.5 rounded-full bg-accent"
                      : "block h-2.5 rounded-full bg-strong-line"
                  }
                  style={{ width: `${(100 * one.memories) / most}%` }}
                />
              </span>
              <span className="text-end tabular-nums">{count(one.memories)}</span>
            </li>
          ))}
          {domains.length === 0 && <li className="text-muted">{t("insights.nothing")}</li>}
        </ul>
      )}
    </Figure>
  );
}
