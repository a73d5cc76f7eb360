/** "Why this answer?": memories used, available and left out for an answer, with corrections. */

import { Link } from "@tanstack/react-router";
import type { GroundsView, MemoryView } from "lukasa-client";
import { type FocusEvent, useCallback, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { turnText } from "../../data/hidden.ts";
import { useMemory } from "../../data/memories.ts";
import { useWhy } from "../../data/sessions.ts";
import { shownContent } from "../../data/shown-content.ts";
import { answersIn, useOneSession, useRetrieval, useUsage } from "../../data/sources.ts";
import { useTitle } from "../../data/titles.ts";
import { listFormat, numberFormat } from "../../i18n/formats.ts";
import { known, locale, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Diff } from "../../ui/diff.tsx";
import { Meter } from "../../ui/meter.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { actionsForStatus, useActionList, VERBS } from "../memory/actions.ts";
import { ChangedForm } from "../memory/changed-form.tsx";
import { EditForm } from "../memory/edit-form.tsx";
import { labelFor } from "../memory/labels.ts";
import { MemoryVerbs } from "../memory/verbs.tsx";
import { EvidenceList, LINK, Quoted, useCaption } from "./evidence.tsx";
import { MemoryStatus } from "./memory-status.tsx";
import {
  type ExcludedMemory,
  type PromptPosition,
  readTrace,
  type SearchRanks,
  type Trace,
} from "./trace.ts";

const NO_QUOTES: readonly string[] = [];

/** In a drawer, its title is the drawer's, and its shortcuts work although a dialog is open. */
export function Why({
  session,
  turn,
  inDrawer = false,
}: {
  session: string;
  turn: number;
  inDrawer?: boolean;
}) {
  const why = useWhy(session, turn);
  const chat = useOneSession(session);
  const title = useTitle(chat.data);
  const retrieval = useRetrieval(why.data?.retrieval_id);
  const trace = useMemo(() => readTrace(retrieval.data?.trace), [retrieval.data]);
  const captionOf = useCaption();
  const [chosen, setChosen] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  const move = (by: 1 | -1) => {
    const places = [...(list.current?.querySelectorAll<HTMLElement>("[data-memory]") ?? [])];
    const at = places.findIndex((place) => place.dataset.memory === chosen);
    places[Math.max(0, Math.min(places.length - 1, at + by))]?.focus();
  };
  useShortcuts(t("sources.title"), [
    {
      keys: "j",
      label: t("sources.key.nextMemory"),
      run: () => move(1),
      inDialogs: inDrawer,
    },
    {
      keys: "k",
      label: t("sources.key.beforeMemory"),
      run: () => move(-1),
      inDialogs: inDrawer,
    },
  ]);
  if (why.error) return <ProblemCard error={why.error} retry={() => void why.refetch()} />;
  if (!why.data) return <Skeleton rows={3} />;
  const used = why.data.memories.filter((one) => one.how !== "given");
  const given = why.data.memories.filter((one) => one.how === "given");
  // Search results that were already in the prompt were not left out.
  const left = trace.excluded.filter((one) => !(one.memory && trace.given.has(one.memory)));
  const shown = {
    chosen: chosen ?? why.data.memories[0]?.memory.id,
    setChosen,
    trace,
    inDrawer,
  };
  return (
    <div className="flex flex-col gap-4">
      <section className="rounded-card border bg-surface px-5 py-4">
        {!inDrawer && <h2 className="pb-1 text-meta text-muted">{t("sources.why.title")}</h2>}
        <blockquote className="max-w-prose text-lead leading-relaxed">
          <Quoted text={turnText(why.data.turn)} quotes={NO_QUOTES} whole />
        </blockquote>
        <p className="pt-1 text-meta text-muted">
          <bdi>{captionOf(why.data.turn, chat.data ? title : undefined)}</bdi>
        </p>
      </section>
      <div ref={list} className="flex flex-col gap-4">
        {why.data.memories.length === 0 && <p className="text-muted">{t("sources.why.nothing")}</p>}
        <Group title={t("sources.why.used", { count: used.length })} of={used} {...shown} />
        <Group
          title={t(used.length > 0 ? "sources.why.given" : "sources.why.onlyGiven", {
            count: given.length,
          })}
          of={byRank(given, trace)}
          brief
          {...shown}
        />
      </div>
      {left.length > 0 && <LeftOutCard left={left} found={trace.found} />}
      {trace.budget && (
        <Card>
          <Meter
            label={t("sources.why.budget")}
            limit={trace.budget.limit}
            shares={[
              { name: t("sources.share.baseline"), tokens: trace.budget.baseline },
              { name: t("sources.share.dynamic"), tokens: trace.budget.dynamic },
            ]}
          />
          {trace.considered !== undefined && (
            <p className="pt-2 text-meta text-muted">
              {t("sources.why.considered", { count: trace.considered })}
            </p>
          )}
        </Card>
      )}
      {why.data.retrieval_id && retrieval.data === null && (
        <p className="text-meta text-muted">{t("sources.why.tooOld")}</p>
      )}
    </div>
  );
}

/** The most relevant first. */
function byRank(given: readonly GroundsView[], { found, given: places }: Trace): GroundsView[] {
  const rank = ({ memory: { id } }: GroundsView) =>
    found.get(id)?.fused ?? 1_000 + (places.get(id)?.rank ?? 1_000);
  return [...given].sort((a, b) => rank(a) - rank(b));
}

/** Memories that an answer did not use are listed up to this number, and the rest on request. */
const MAX_BRIEF = 5;

function Group({
  title,
  of,
  brief = false,
  chosen,
  setChosen,
  trace,
  inDrawer,
}: {
  title: string;
  of: readonly GroundsView[];
  /** One line each; corrections are offered for the chosen one only. */
  brief?: boolean;
  chosen?: string;
  setChosen: (id: string) => void;
  trace: Trace;
  inDrawer: boolean;
}) {
  const [all, setAll] = useState(false);
  if (of.length === 0) return null;
  const shown = brief && !all ? of.slice(0, MAX_BRIEF) : of;
  return (
    <Card title={title} flush>
      <ul className="divide-y divide-line">
        {shown.map((one) => (
          <li key={one.memory.id}>
            <UsedMemory
              grounds={one}
              place={trace.given.get(one.memory.id)}
              found={trace.found.get(one.memory.id)}
              chosen={chosen === one.memory.id}
              onChosen={() => setChosen(one.memory.id)}
              brief={brief}
              inDrawer={inDrawer}
            />
          </li>
        ))}
      </ul>
      {shown.length < of.length && (
        <div className="border-t px-2 py-1.5">
          <Button small look="quiet" onClick={() => setAll(true)}>
            {t("memory.more", { count: of.length - shown.length })}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** A memory of the answer, as it was known then. */
function UsedMemory({
  grounds,
  place,
  found,
  chosen,
  onChosen,
  brief,
  inDrawer,
}: {
  grounds: GroundsView;
  place?: PromptPosition;
  found?: SearchRanks;
  chosen: boolean;
  onChosen: () => void;
  brief: boolean;
  inDrawer: boolean;
}) {
  const { memory } = grounds;
  const now = useMemory(memory.id);
  const [form, setForm] = useState<string>();
  const list = useActionList(useCallback(() => setForm("edit"), []));
  const current = now.data ?? memory;
  const verbs = actionsForStatus(list, current.status, false).filter(({ name }) =>
    VERBS.includes(name),
  );
  useShortcuts(
    t("sources.title"),
    chosen
      ? verbs.map((one) => ({
          keys: one.key,
          label: one.label,
          run: () => one.run(current, (_, part) => setForm(part)),
          inDialogs: inDrawer,
        }))
      : [],
  );
  const section = useRef<HTMLElement>(null);
  // The focused form is removed; its memory takes the focus, so that shortcuts keep working.
  const done = () => {
    section.current?.focus();
    setForm(undefined);
  };
  const focused = (event: FocusEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget)) onChosen();
  };
  return (
    <section
      ref={section}
      tabIndex={-1}
      data-memory={memory.id}
      aria-label={shownContent(memory)}
      onFocus={focused}
      className={`flex flex-col gap-2.5 border-s-2 px-4 py-3 outline-none ${chosen ? "border-accent" : "border-transparent"}`}
    >
      <div className="flex flex-wrap items-baseline justify-between gap-x-3 gap-y-1">
        <Link
          to="/sources"
          search={{ memory: memory.id }}
          dir="auto"
          className="text-lead text-ink no-underline hover:underline"
        >
          {shownContent(memory)}
        </Link>
        {place && <Place place={place} />}
      </div>
      {now.data && <ChangesSince then={memory} now={now.data} />}
      {(!brief || chosen) && (
        <>
          <FoundBy found={found} />
          <EvidenceList memory={memory} />
          {form === "edit" && <EditForm memory={current} onDone={done} brief />}
          {form === "changed" && <ChangedForm memory={current} onDone={done} />}
          {form === undefined && (
            <MemoryVerbs memory={current} actions={verbs} keys={chosen} onPart={setForm} />
          )}
        </>
      )}
    </section>
  );
}

/** Its place in the prompt, and its relevance. */
function Place({ place }: { place: PromptPosition }) {
  const parts = [
    t("sources.why.rank", { rank: place.rank, part: t(`sources.part.${place.part}`) }),
    t("sources.why.tokens", { count: place.tokens }),
  ];
  if (place.relevance !== undefined) {
    parts.push(t("sources.why.fits", { share: percent(place.relevance) }));
  }
  return <span className="text-fine text-muted tabular-nums">{parts.join(" · ")}</span>;
}

/** The search arms that found it with their ranks: "found by meaning (1), words (2); together 1". */
function FoundBy({ found }: { found: SearchRanks | undefined }) {
  if (!found) return null;
  const arms = found.arms.map(({ arm, rank }) =>
    t("sources.why.arm", { arm: labelFor("arm", arm), rank }),
  );
  const words = t("sources.why.found", {
    arms: listFormat(locale(), { type: "unit" }).format(arms),
  });
  const together = found.fused && t("sources.why.fused", { rank: found.fused });
  return (
    <p className="text-fine text-muted tabular-nums">
      {together && arms.length > 1 ? `${words} · ${together}` : words}
    </p>
  );
}

function percent(share: number): string {
  return numberFormat(locale(), { style: "percent" }).format(share);
}

/** Changes of the memory since the answer, and the other answers that used it. */
function ChangesSince({ then, now }: { then: MemoryView; now: MemoryView }) {
  const usage = useUsage(now.id);
  const answers = answersIn(usage.data ?? []).length;
  if (now.status === "active" && now.content === then.content) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-meta text-muted">
      {now.status === "active" ? (
        <span>
          {t("sources.why.now")} <Diff before={then.content} after={now.content} />
        </span>
      ) : (
        <MemoryStatus status={now.status} />
      )}
      {answers > 0 && (
        <Link to="/memory/$id" params={{ id: now.id }} search={{ tab: "used" }} className={LINK}>
          {t("sources.why.answers", { count: answers })}
        </Link>
      )}
    </p>
  );
}

function LeftOutCard({
  left,
  found,
}: {
  left: readonly ExcludedMemory[];
  found: ReadonlyMap<string, SearchRanks>;
}) {
  return (
    <Card title={t("sources.why.left", { count: left.length })} flush>
      <ul className="divide-y divide-line">
        {left.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <li key={at} className="flex flex-wrap items-center justify-between gap-x-3 px-4 py-2">
            <div className="min-w-0">
              {one.memory ? <MemoryLine id={one.memory} /> : <TurnLine left={one} />}
              <FoundBy found={found.get(one.memory ?? one.turn ?? one.episode ?? "")} />
            </div>
            <Badge>{reasonOf(one.reason)}</Badge>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function MemoryLine({ id }: { id: string }) {
  const memory = useMemory(id);
  if (memory.error) return <span className="text-muted">{t("sources.missing.deleted")}</span>;
  return (
    <Link to="/sources" search={{ memory: id }} dir="auto" className={LINK}>
      {memory.data ? shownContent(memory.data) : t("shell.loading")}
    </Link>
  );
}

function TurnLine({ left }: { left: ExcludedMemory }) {
  const what = t(left.episode ? "sources.why.episode" : "sources.why.turn");
  if (!left.session) return <span className="text-muted">{what}</span>;
  return (
    <Link to="/sources" search={{ session: left.session }} className={LINK}>
      {what}
    </Link>
  );
}

function reasonOf(reason: string): string {
  const key = `sources.reason.${reason.replaceAll(" ", "_")}`;
  return known(key) ? t(key) : reason;
}
