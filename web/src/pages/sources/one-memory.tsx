/** A memory: its evidence, its portraits, the answers that used it, and corrections. */

import { Link } from "@tanstack/react-router";
import { LukasaError, type MemoryView } from "lukasa-client";
import type { ReactNode } from "react";
import { useLiveEvent } from "../../base/live.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useMemory } from "../../data/memories.ts";
import { sourceOf } from "../../data/select.ts";
import { useAnswers, useEpisodes, useEvidence, usePortraits } from "../../data/sources.ts";
import { Certainty, Force, SourceIcon } from "../../features/memory/badges.tsx";
import { EvidenceList, LINK, Quoted, useCaption } from "../../features/sources/evidence.tsx";
import { FIX_KEYS, FIXES, FixBar, useFix } from "../../features/sources/fix.tsx";
import { MemoryStatus } from "../../features/sources/memory-status.tsx";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import type { SourcesParams } from "./params.ts";
import { portraitName } from "./portraits.tsx";

export function MemoryLevel({ search }: { search: SourcesParams & { memory: string } }) {
  const memory = useMemory(search.memory);
  if (memory.error instanceof LukasaError && memory.error.status === 404) {
    return <EmptyState title={t("memory.gone")} text={t("memory.goneText")} />;
  }
  if (memory.error) {
    return <ProblemCard error={memory.error} retry={() => void memory.refetch()} />;
  }
  if (!memory.data) return <Skeleton rows={3} />;
  return <MemorySources key={memory.data.id} memory={memory.data} search={search} />;
}

function MemorySources({ memory, search }: { memory: MemoryView; search: SourcesParams }) {
  const fix = useFix(memory);
  const from = { portrait: search.portrait, memory: memory.id };
  useLiveEvent(({ operation }) => fix.undone(operation.undoes));
  const active = memory.status === "active";
  useShortcuts(
    t("sources.title"),
    active && !fix.fixed
      ? FIXES.map((fault) => ({
          keys: FIX_KEYS[fault],
          label: t(`sources.fix.${fault}`),
          run: () => fix.begin(fault),
        }))
      : [],
  );
  return (
    <div className="flex flex-col gap-4">
      <Card>
        <div className="flex flex-col gap-3 outline-none" tabIndex={-1} data-memory={memory.id}>
          <h2 dir="auto" className="text-title">
            {memory.content}
          </h2>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-meta text-muted">
            <MemoryStatus status={memory.status} />
            {memory.domain && <Badge>{domainName(memory.domain)}</Badge>}
            <Certainty memory={memory} />
            {memory.force === "hard" && <Force force={memory.force} words />}
            <SourceIcon source={sourceOf(memory)} words />
            <Time at={memory.updated_at} />
            <Link to="/memory/$id" params={{ id: memory.id }} className={LINK}>
              {t("sources.openMemory")}
            </Link>
          </div>
          {(active || fix.fixed) && <FixBar memory={memory} fix={fix} keys />}
        </div>
      </Card>
      <Card title={t("sources.rests")}>
        <EvidenceList memory={memory} from={from} />
        <Episodes memory={memory} from={from} />
      </Card>
      <CitingPortraits memory={memory} />
      <Answers memory={memory} />
    </div>
  );
}

/** The episodes of a memory. */
function Episodes({ memory, from }: { memory: MemoryView; from: SourcesParams }) {
  const evidence = useEvidence(memory);
  const episodes = useEpisodes();
  const turns = (evidence.data ?? []).flatMap(({ turn }) => turn ?? []);
  const there = (episodes.data ?? []).filter((episode) =>
    turns.some(
      (turn) =>
        turn.session_id === episode.session_id &&
        turn.number >= episode.first_turn &&
        turn.number <= episode.last_turn,
    ),
  );
  if (there.length === 0) return null;
  return (
    <Rows title={t("sources.happened")}>
      {there.map((episode) => (
        <li key={episode.id}>
          <Link to="/sources" search={{ ...from, episode: episode.id }} className={LINK}>
            <bdi>{episode.title || episode.summary}</bdi>
          </Link>
        </li>
      ))}
    </Rows>
  );
}

function Rows({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="pt-4" aria-label={title}>
      <h3 className="pb-1 text-meta text-muted">{title}</h3>
      <ul className="flex flex-col gap-1">{children}</ul>
    </section>
  );
}

function CitingPortraits({ memory }: { memory: MemoryView }) {
  const portraits = usePortraits();
  const citing = (portraits.data ?? []).flatMap((portrait) =>
    portrait.sentences
      .filter((sentence) => sentence.memory_ids.includes(memory.id))
      .map((sentence) => ({ portrait, sentence })),
  );
  if (citing.length === 0) return null;
  return (
    <Card title={t("sources.toldIn")}>
      <ul className="flex flex-col gap-2">
        {citing.map(({ portrait, sentence }) => (
          <li key={`${portrait.name} ${sentence.text}`}>
            <Link to="/sources" search={{ portrait: portrait.name }} className={LINK}>
              {portraitName(portrait)}
            </Link>
            <p dir="auto">{sentence.text}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const NO_QUOTES: readonly string[] = [];

function Answers({ memory }: { memory: MemoryView }) {
  const answers = useAnswers(memory.id);
  const captionOf = useCaption();
  const list = answers.data ?? [];
  return (
    <Card id="answers" title={t("sources.usedIn", { count: list.length })}>
      {answers.error && <ProblemCard error={answers.error} />}
      {answers.data && list.length === 0 && (
        <p className="text-muted">{t("sources.usedNowhere")}</p>
      )}
      <ul className="flex flex-col gap-3">
        {list.map(({ usage, turn, session }) => (
          <li key={usage.turn_id} className="border-s-2 border-line ps-3">
            {turn ? (
              <>
                <Quoted text={turn.content} quotes={NO_QUOTES} />
                <p className="text-meta text-muted">
                  <Link
                    to="/sources"
                    search={{ session: turn.session_id, turn: turn.number, why: true }}
                    className={LINK}
                  >
                    <bdi>{captionOf(turn, session?.title ?? undefined)}</bdi>
                  </Link>
                </p>
              </>
            ) : (
              <p className="text-meta text-muted">
                {t("sources.missing.deleted")} <Time at={usage.at} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
