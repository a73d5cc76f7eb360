/** Evidence of a memory: the quoted sentence marked in its turn, with speaker, time and chat. */

import { Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import type { DependentMemory, MemoryView, TurnView } from "lukasa-client";
import { useMemo } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { isHidden, turnText } from "../../data/hidden.ts";
import { excerpt, pieces } from "../../data/quotes.ts";
import { sourceOf } from "../../data/select.ts";
import { type Evidence, useEvidence } from "../../data/sources.ts";
import { t } from "../../i18n/index.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Time } from "../../ui/time.tsx";
import { SourceIcon } from "../memory/badges.tsx";
import type { SourceLevels } from "./levels.ts";

/** Style of a secondary link. */
export const LINK =
  "inline-flex min-h-6 pointer-coarse:min-h-11 items-center text-muted underline decoration-strong-line/50 underline-offset-2 hover:text-ink";

/** The text of a turn with marked quotations; all of it, or an excerpt around the marks. */
export function Quoted({
  text,
  quotes,
  whole,
}: {
  text: string;
  quotes: readonly string[];
  whole?: boolean;
}) {
  const shown = useMemo(() => {
    const all = pieces(text, quotes);
    return whole ? all : excerpt(all);
  }, [text, quotes, whole]);
  return (
    <span dir="auto" className="block whitespace-pre-wrap">
      {shown.map((piece, at) => {
        const key = `${at} ${piece.marked}`;
        return piece.marked ? (
          <mark key={key}>{piece.text}</mark>
        ) : (
          <span key={key}>{piece.text}</span>
        );
      })}
    </span>
  );
}

/** The quotes that memories have of a turn. */
export function quotesIn(turn: string, memories: readonly DependentMemory[]): string[] {
  return memories.flatMap(({ memory }) =>
    memory.evidence.filter((one) => one.turn_id === turn).map((one) => one.description),
  );
}

/** Captions such as "You said, 12 Mar 2026, in ‘Tax question’". */
export function useCaption(): (turn: TurnView, title: string | undefined) => string {
  const { timeZone } = usePreferences();
  return (turn, title) => {
    const who = turn.speaker
      ? t("sources.who.named", { name: turn.speaker })
      : turn.role === "user" || turn.role === "assistant" || turn.role === "tool"
        ? t(`sources.who.${turn.role}`)
        : t("sources.who.other", { role: turn.role });
    const when = day(turn.said_at, timeZone);
    return t("sources.said", { who, when, title: title || turn.session_id });
  };
}

/** The evidence of a memory, with links. */
export function EvidenceList({
  memory,
  from = { memory: memory.id },
}: {
  memory: MemoryView;
  /** The levels above, for the breadcrumb. */
  from?: SourceLevels;
}) {
  const evidence = useEvidence(memory);
  if (evidence.error) {
    return <ProblemCard error={evidence.error} retry={() => void evidence.refetch()} />;
  }
  if (!evidence.data) return <p className="text-muted">{t("shell.loading")}</p>;
  if (evidence.data.length === 0) {
    return (
      <p className="flex flex-wrap items-center gap-x-2 text-meta text-muted">
        <SourceIcon source={sourceOf(memory)} words />
        <span aria-hidden>·</span>
        <Time at={memory.created_at} />
      </p>
    );
  }
  return (
    <ul className="flex flex-col gap-2">
      {evidence.data.map((item) => (
        <li key={item.key}>
          <EvidenceItem item={item} from={from} />
        </li>
      ))}
    </ul>
  );
}

function EvidenceItem({ item, from }: { item: Evidence; from: SourceLevels }) {
  const captionOf = useCaption();
  const { turn, session, quote } = item;
  const quotes = useMemo(() => (quote ? [quote] : []), [quote]);
  if (!turn) {
    return (
      <figure className="border-s-2 border-line ps-3">
        {quote && item.described && (
          <p dir="auto" className="text-muted">
            {quote}
          </p>
        )}
        {quote && !item.described && (
          <blockquote>
            <Quoted text={quote} quotes={[]} whole />
          </blockquote>
        )}
        {item.missing && (
          <figcaption className="flex items-center gap-1.5 text-meta text-muted">
            <FileQuestion size={14} aria-hidden className="shrink-0 text-faint" />
            {t(`sources.missing.${item.missing}`)}
          </figcaption>
        )}
      </figure>
    );
  }
  const caption = captionOf(turn, session?.title ?? undefined);
  return (
    <figure className="border-s-2 border-line ps-3">
      <blockquote>
        <Quoted text={(isHidden(turn) && quote) || turnText(turn)} quotes={quotes} />
      </blockquote>
      <figcaption className="text-meta text-muted">
        <Link
          to="/sources"
          search={{ ...from, session: turn.session_id, turn: turn.number }}
          className={LINK}
        >
          <bdi>{caption}</bdi>
        </Link>
      </figcaption>
    </figure>
  );
}
