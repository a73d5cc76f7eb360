/** One result: verdict, ranking, prompt, timing, and the commands to repeat it. */
import { ChevronRight, Search, SearchX } from "lucide-react";
import { type ReactNode, useState } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { domainName } from "../../i18n/domains.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { type Answers, useAnswers, useCommands, useTrace } from "./answers.ts";
import { ExcludedLines, IncludedLines } from "./lines.tsx";
import type { Setting } from "./params.ts";
import { Prompt } from "./prompt.tsx";
import { figure, Ranks } from "./ranks.tsx";
import { exclusionsOf, rowsOf, STAGES, total, verdict } from "./requests.ts";
import { SaveTest } from "./save-test.tsx";

export function Result({
  query,
  setting,
  name,
  narrow,
  table,
  onTable,
  onSetting,
}: {
  query: string;
  setting: Setting;
  /** Its name in a comparison. */
  name?: string;
  narrow?: boolean;
  table: boolean;
  onTable: (table: boolean) => void;
  onSetting: (setting: Setting) => void;
}) {
  const { data, error, refetch, isFetching, isPlaceholderData } = useAnswers(query, setting);
  if (error) return <ProblemCard error={error} retry={() => void refetch()} />;
  if (!data) return <Running />;
  // Without a search for this message, its ranks would be those of another request.
  const ranks = verdict(data.context, data.found) !== "spared" && (
    <RanksCard {...data} setting={setting} table={table} onTable={onTable} />
  );
  return (
    <section
      aria-label={name ?? t("playground.result")}
      aria-busy={isFetching}
      className={classes(
        "grid min-w-0 items-start gap-4",
        !narrow && "xl:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]",
        isPlaceholderData && "opacity-60",
      )}
    >
      <div className={classes("flex min-w-0 flex-col gap-4", !narrow && "xl:col-span-2")}>
        <Verdict {...data} name={name} onSearch={() => onSetting({ ...setting, anyway: true })} />
        {table && ranks}
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        {!table && ranks}
        <ExcludedLines {...data} />
        <Timing {...data} />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Prompt context={data.context} window={setting.window} />
        <IncludedLines {...data} />
        <RepeatRequest {...data} query={query} setting={setting} keyed={!narrow} />
      </div>
    </section>
  );
}

function Running() {
  return (
    <output className="flex items-center gap-2.5 rounded-card border bg-surface p-4">
      <Spinner />
      {t("playground.running")}
      <Badge tone="accent">{t("playground.runningBadge")}</Badge>
    </output>
  );
}

/** The verdict: whether memory was searched, and what was detected in the message. */
function Verdict({
  context,
  found,
  name,
  onSearch,
}: Answers & {
  name?: string;
  /** Asks again, with a search. */
  onSearch: () => void;
}) {
  const was = verdict(context, found);
  const Icon = was === "looked" ? Search : SearchX;
  const went = context.baseline.citations.length + context.dynamic.citations.length;
  const out = exclusionsOf(context).filter((one) => !one.mark).length;
  return (
    <Card>
      <div className="flex flex-col gap-3">
        <div className="flex items-start gap-3">
          <Icon size={18} aria-hidden className="mt-0.5 shrink-0 text-accent-text" />
          <div className="min-w-0 flex-1">
            <p className="font-medium">
              {name && `${name}: `}
              {t(`playground.verdict.${was}`)}
            </p>
            <p className="text-muted tabular-nums">
              {t("playground.verdict.counts", { considered: context.considered, went, out })}
            </p>
          </div>
          {was === "spared" && (
            <Button small onClick={onSearch}>
              {t("playground.verdict.anyway")}
            </Button>
          )}
        </div>
        <dl className="flex flex-wrap gap-x-8 gap-y-2">
          <Detail name={t("playground.domains")}>
            {context.domains.length === 0 && t("playground.domains.none")}
            {context.domains.map((one) => (
              <span key={one.domain} className="inline-flex items-baseline gap-1.5">
                <Badge tone="accent">{domainName(one.domain)}</Badge>
                <span className="text-meta text-muted tabular-nums">
                  {figure(one.score, 2)}
                  {one.words.length > 0 && (
                    <>
                      {" · "}
                      <bdi>{one.words.join(", ")}</bdi>
                    </>
                  )}
                </span>
              </span>
            ))}
          </Detail>
          {context.times.length > 0 && (
            <Detail name={t("playground.times")}>
              {timesOf(context).map((one) => (
                <span
                  key={`${one.words} ${one.from}`}
                  className="inline-flex flex-wrap items-baseline gap-1.5"
                >
                  <bdi>“{one.words}”</bdi>
                  <span className="text-meta text-muted">
                    <Span {...one} />
                  </span>
                </span>
              ))}
            </Detail>
          )}
          <Detail name={t("playground.cache")}>
            {t(context.cache === "hit" ? "playground.cache.hit" : "playground.cache.miss")}
          </Detail>
          <Detail name={t("playground.model")}>
            {context.model ? <bdi>{context.model}</bdi> : t("playground.model.none")}
          </Detail>
          {context.degraded.length > 0 && (
            <Detail name={t("playground.degraded")}>
              {context.degraded.map((part) => (
                <Badge key={part} tone="warn">
                  {nameText(`playground.degraded.${part}`, part)}
                </Badge>
              ))}
            </Detail>
          )}
          <Detail name={t("playground.retrieval")}>
            <code className="font-mono text-meta select-all">{context.retrieval_id}</code>
          </Detail>
        </dl>
      </div>
    </Card>
  );
}

/** The detected times without duplicates. */
function timesOf({ times }: Answers["context"]): Answers["context"]["times"] {
  return [...new Map(times.map((one) => [`${one.words} ${one.from}`, one])).values()];
}

/** A time range; whole days as dates only. */
function Span({ from, until }: { from: string; until?: string | null }) {
  const { timeZone } = usePreferences();
  const midnight = (at: string) => day(at, timeZone) !== day(Date.parse(at) - 1, timeZone);
  if (until && midnight(from) && midnight(until)) {
    const [first, last] = [day(from, timeZone), day(Date.parse(until) - 1, timeZone)];
    return first === last ? first : `${first} – ${last}`;
  }
  return (
    <>
      <Time at={from} absolute />
      {until && (
        <>
          {" – "}
          <Time at={until} absolute />
        </>
      )}
    </>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-fine text-muted">{name}</dt>
      <dd className="flex flex-wrap items-baseline gap-x-3 gap-y-1">{children}</dd>
    </div>
  );
}

function RanksCard({
  context,
  found,
  setting,
  table,
  onTable,
}: Answers & { setting: Setting; table: boolean; onTable: (table: boolean) => void }) {
  const rows = rowsOf(found, context);
  const memories = rows.filter((row) => row.what === "memory");
  const turns = rows.filter((row) => row.what === "turn");
  const ranked = setting.fusion || setting.rerank === false;
  return (
    <Card
      title={t("playground.ranks")}
      flush={table}
      actions={
        <Button small look="quiet" aria-pressed={table} onClick={() => onTable(!table)}>
          {t(table ? "playground.asLines" : "playground.asTable")}
        </Button>
      }
    >
      {rows.length === 0 ? (
        <p className={classes("text-muted", table && "p-4")}>{t("playground.ranks.none")}</p>
      ) : (
        <div className="flex flex-col gap-4">
          <Ranks label={t("playground.memories")} rows={memories} table={table} />
          <Ranks label={t("playground.turns")} rows={turns} table={table} />
          <div
            className={classes("flex flex-col gap-1 text-meta text-muted", table && "px-4 pb-3")}
          >
            {!table && <p>{t("playground.ranks.legend")}</p>}
            {!found.model && <p>{t("playground.ranks.noVectors")}</p>}
            {ranked && <p>{t("playground.ranks.apart")}</p>}
          </div>
        </div>
      )}
    </Card>
  );
}

/** Time per stage. */
function Timing({ context }: Answers) {
  const whole = total(context.took_ms);
  return (
    <Card
      title={t("playground.timing")}
      actions={<span className="text-muted tabular-nums">{milliseconds(whole)}</span>}
    >
      <dl className="grid grid-cols-[auto_1fr_auto] items-center gap-x-3 gap-y-1.5">
        {STAGES.map((stage) => {
          const key = `playground.took.${stage}`;
          return (
            <div key={stage} className="contents">
              <dt className="text-muted">{nameText(key, stage)}</dt>
              <dd aria-hidden className="h-2 rounded-full bg-sunken">
                <div
                  className="h-2 rounded-full bg-accent"
                  style={{ width: `${whole > 0 ? (100 * context.took_ms[stage]) / whole : 0}%` }}
                />
              </dd>
              <dd className="text-end tabular-nums">{milliseconds(context.took_ms[stage])}</dd>
            </div>
          );
        })}
      </dl>
    </Card>
  );
}

export function milliseconds(value: number): string {
  return t("playground.ms", { value: figure(value, value < 10 ? 3 : 1) });
}

/** Commands to repeat the request, saving it as a test, and the stored trace. */
function RepeatRequest(props: Answers & { query: string; setting: Setting; keyed: boolean }) {
  const commands = useCommands(props.query, props.setting);
  const [open, setOpen] = useState(false);
  const trace = useTrace(props.context.retrieval_id, open);
  return (
    <Card title={t("playground.again")} actions={<SaveTest {...props} />}>
      <div className="flex flex-col gap-3">
        <Snippet code={commands.retrieve} />
        <p className="text-meta text-muted">{t("playground.again.search")}</p>
        <Snippet code={commands.search} />
        <div>
          <Button small look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            <ChevronRight
              size={14}
              aria-hidden
              className={classes("transition-transform rtl:-scale-x-100", open && "rotate-90")}
            />
            {t("playground.trace")}
          </Button>
        </div>
        {open && trace.isPending && <Spinner />}
        {open && trace.error && <ProblemCard error={trace.error} retry={() => trace.refetch()} />}
        {open && trace.data && <Snippet code={JSON.stringify(trace.data, null, 2)} />}
      </div>
    </Card>
  );
}
