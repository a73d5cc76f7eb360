/** Insights page: growth, use and corrections of the memory. */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ChartNoAxesColumn, CircleCheck, CircleX, Table2 } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useSignIn } from "../../base/sign-in.ts";
import { useDomains } from "../../data/domains.ts";
import { domainName } from "../../i18n/domains.ts";
import { insights } from "../../i18n/en/insights.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { classes } from "../../ui/classes.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { ChartCard } from "./chart-card.tsx";
import { type Headline, headlines, isEmpty, sectionsOf } from "./charts.ts";
import { TopDomains } from "./domains.tsx";
import { type Figures, useFigures } from "./figures.ts";
import { RANGES, type Range } from "./params.ts";
import { YourMemory } from "./your-memory.tsx";

addMessages({ insights });

const route = getRouteApi("/insights");

export default function InsightsPage() {
  const { days = 30, table = false, figures: unfolded = false } = route.useSearch();
  const navigate = useNavigate();
  const figures = useFigures(days);
  const go = (range: Range, tables: boolean, open = unfolded) =>
    void navigate({
      to: "/insights",
      search: {
        days: range === 30 ? undefined : range,
        table: tables || undefined,
        figures: open || undefined,
      },
    });
  useShortcuts(t("insights.title"), [
    { keys: "t", label: t("insights.key.table"), run: () => go(days, !table) },
    ...RANGES.map((range, at) => ({
      keys: String(at + 1),
      label: t("insights.days", { count: range }),
      run: () => go(range, table),
    })),
  ]);
  return (
    <Page
      title={t("insights.title")}
      note={t("insights.utc")}
      actions={
        <fieldset className="flex gap-1.5">
          <legend className="sr-only">{t("insights.range")}</legend>
          {RANGES.map((range) => (
            <Chip key={range} pressed={range === days} onPress={() => go(range, table)}>
              {t("insights.days", { count: range })}
            </Chip>
          ))}
        </fieldset>
      }
    >
      {figures.error ? (
        <ProblemCard error={figures.error} retry={() => void figures.refetch()} />
      ) : !figures.data ? (
        <Skeleton rows={8} />
      ) : (
        <Charts
          figures={figures.data}
          tables={table}
          open={unfolded || table}
          onOpen={(open) => go(days, open && table, open)}
          onTables={() => go(days, !table)}
        />
      )}
    </Page>
  );
}

function Charts({
  figures,
  tables,
  open,
  onOpen,
  onTables,
}: {
  figures: Figures;
  tables: boolean;
  /** Whether the figures for developers are unfolded. */
  open: boolean;
  onOpen: (open: boolean) => void;
  onTables: () => void;
}) {
  // Also users who are not operators see what is remembered about them.
  const { admin } = useSignIn();
  const { data: domains } = useDomains();
  const naming = useCallback(
    (name: string) => domainName(domains?.find((one) => one.name === name) ?? name),
    [domains],
  );
  const sections = useMemo(() => sectionsOf(figures.days, naming), [figures, naming]);
  // The chosen day is shared by all charts.
  const [chosen, setChosen] = useState<number | null>(null);
  const at = chosen === null ? null : Math.min(chosen, figures.days.length - 1);
  if (sections.every(({ charts }) => charts.every(isEmpty))) {
    return (
      <EmptyState
        icon={<ChartNoAxesColumn size={20} aria-hidden />}
        title={t("insights.empty.title")}
        text={t("insights.empty.text")}
        waiting={t("insights.empty.waiting")}
        next={
          admin
            ? [
                {
                  text: t("insights.empty.try"),
                  action: (
                    <Link to="/playground" className={buttonClasses("plain", true)}>
                      {t("shell.page.playground")}
                    </Link>
                  ),
                },
              ]
            : undefined
        }
      />
    );
  }
  return (
    <div className="flex flex-col gap-8">
      <YourMemory figures={figures} naming={naming} />
      {admin && (
        <Disclosure label={t("insights.developers")} open={open} onOpen={onOpen}>
          <div className="flex flex-col gap-8">
            <div className="-mb-5 flex justify-end">
              <Button small aria-pressed={tables} onClick={onTables}>
                <Table2 size={14} aria-hidden className="text-muted" />
                {t(tables ? "insights.asCharts" : "insights.asTables")}
              </Button>
            </div>
            <Headlines all={headlines(figures.days)} />
            {sections.map((section, which) => (
              <section
                key={section.title}
                aria-label={section.title}
                className="flex flex-col gap-3"
              >
                <h2 className="font-medium text-muted">{section.title}</h2>
                <div
                  className={classes(
                    "grid gap-4 lg:grid-cols-2",
                    section.charts.length % 2 === 1 && "xl:grid-cols-3",
                  )}
                >
                  {section.charts.map((chart) => (
                    <ChartCard
                      key={`${chart.id} ${tables}`}
                      chart={chart}
                      tables={tables}
                      at={at}
                      onAt={setChosen}
                    />
                  ))}
                  {which === 0 && (
                    <TopDomains
                      key={String(tables)}
                      domains={figures.domains}
                      naming={naming}
                      tables={tables}
                    />
                  )}
                </div>
              </section>
            ))}
          </div>
        </Disclosure>
      )}
    </div>
  );
}

/** Headline numbers of the period, and whether they meet their goals. */
function Headlines({ all }: { all: readonly Headline[] }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-card border bg-line sm:grid-cols-4">
      {all.map(({ id, name, value, goal }) => (
        <div key={id} className="flex flex-col gap-0.5 bg-surface px-4 py-3">
          <dt className="text-meta text-muted">{name}</dt>
          <dd className="text-title tabular-nums">{value}</dd>
          {goal && (
            <dd
              className={classes(
                "inline-flex items-center gap-1 text-fine",
                goal.met ? "text-good" : "text-warn",
              )}
            >
              {goal.met ? <CircleCheck size={12} aria-hidden /> : <CircleX size={12} aria-hidden />}
              {t(goal.met ? "insights.goal.met" : "insights.goal.missed", { goal: goal.text })}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
