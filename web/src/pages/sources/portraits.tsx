/** Portraits: sentences about the user, each with the memories it cites. */

import { Link } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import type { PortraitView, SentenceView } from "lukasa-client";
import { useSignIn } from "../../base/sign-in.ts";
import { curl } from "../../data/curl.ts";
import { useMemories } from "../../data/memories.ts";
import { usePortraits } from "../../data/sources.ts";
import { known, t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";

export function portraitName({ name, title }: Pick<PortraitView, "name" | "title">): string {
  const key = `sources.portrait.${name}`;
  return known(key) ? t(key) : title;
}

/** `made_by` of a portrait that was written without a model. */
const TEMPLATE = "template";

export function Portraits({ only }: { only?: string }) {
  const portraits = usePortraits();
  const signIn = useSignIn();
  if (portraits.error) {
    return <ProblemCard error={portraits.error} retry={() => void portraits.refetch()} />;
  }
  if (!portraits.data) return <Skeleton />;
  const shown = portraits.data.filter(
    (one) => one.sentences.length > 0 && (!only || one.name === only),
  );
  if (shown.length === 0) {
    return (
      <EmptyState
        icon={<Waypoints size={20} aria-hidden />}
        title={t("sources.empty.title")}
        text={t("sources.empty.text")}
        snippet={curl("/api/memory", '{"content": "I only do index funds"}', signIn)}
        waiting={t("sources.empty.waiting")}
      />
    );
  }
  return (
    <div className="flex flex-col gap-4">
      {shown.map((portrait) => (
        <Portrait key={portrait.name} portrait={portrait} />
      ))}
      {shown.every((portrait) => portrait.made_by === TEMPLATE) && (
        <p className="px-4 text-[0.8125rem] text-muted">{t("sources.phrasing.own")}</p>
      )}
    </div>
  );
}

function Portrait({ portrait }: { portrait: PortraitView }) {
  const notes = [
    portrait.made_by !== TEMPLATE && t("sources.phrasing.model", { model: portrait.made_by }),
    !portrait.fresh && t("sources.phrasing.stale"),
    portrait.left_out.length > 0 && t("sources.phrasing.left", { count: portrait.left_out.length }),
  ].filter((note) => note !== false);
  return (
    <Card
      title={
        <Link
          to="/sources"
          search={{ portrait: portrait.name }}
          className="text-ink no-underline hover:underline"
        >
          {portraitName(portrait)}
        </Link>
      }
      actions={
        <span className="text-[0.8125rem] text-muted">
          <Time at={portrait.compiled_at} />
        </span>
      }
    >
      <ul className="flex max-w-prose flex-col gap-2.5 text-[0.9375rem] leading-relaxed">
        {portrait.sentences.map((sentence) => (
          <li key={sentence.memory_ids.join(" ")}>
            <Sentence sentence={sentence} portrait={portrait.name} />
          </li>
        ))}
      </ul>
      {notes.length > 0 && <p className="pt-3 text-[0.8125rem] text-muted">{notes.join(" ")}</p>}
    </Card>
  );
}

/** A sentence, and a number for each memory it cites. */
function Sentence({ sentence, portrait }: { sentence: SentenceView; portrait: string }) {
  const { byId } = useMemories();
  const lead = sentence.lead === "You told me" ? "told" : "mentioned";
  return (
    <>
      <span className="text-muted">{t(`sources.lead.${lead}`)}</span> <bdi>{sentence.text}</bdi>{" "}
      <span className="inline-flex gap-0.5 align-middle">
        {sentence.memory_ids.map((id, at) => {
          const words = byId.get(id)?.content ?? "";
          return (
            <Tooltip key={id} text={words || t("sources.level.memory")}>
              <Link
                to="/sources"
                search={{ portrait, memory: id }}
                aria-label={t("sources.cites", { number: at + 1, words })}
                className="inline-flex h-6 min-w-6 items-center justify-center rounded-full bg-accent-soft px-1.5 text-xs text-accent-text tabular-nums no-underline hover:bg-active"
              >
                {at + 1}
              </Link>
            </Tooltip>
          );
        })}
      </span>
    </>
  );
}
