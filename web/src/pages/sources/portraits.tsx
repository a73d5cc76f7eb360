/** Portraits: sentences about the user, each with the memories it cites. */

import { Link } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import type { PortraitView, SentenceView } from "lukasa-client";
import { Fragment } from "react";
import { useMemories } from "../../data/memories.ts";
import { usePortraits } from "../../data/sources.ts";
import { domainName } from "../../i18n/domains.ts";
import { known, t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import { partsOf } from "./prose.ts";

export function portraitName({ name, title }: Pick<PortraitView, "name" | "title">): string {
  const key = `sources.portrait.${name}`;
  if (known(key)) return t(key);
  const domain = /^domain:(.+)$/.exec(name)?.[1];
  return domain && known(`shell.domain.${domain}`) ? domainName(domain) : title;
}

/** The lead of a sentence that the user said outright. */
const STATED = "You told me";
/** `made_by` of a portrait that was written without a model. */
const TEMPLATE = "template";

export function Portraits({ only }: { only?: string }) {
  const portraits = usePortraits();
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
        next={[
          {
            text: t("sources.empty.start"),
            action: (
              <Link to="/memory" className={buttonClasses("plain", true)}>
                {t("shell.page.memory")}
              </Link>
            ),
          },
        ]}
      />
    );
  }
  const numbers = numberMemories(shown);
  return (
    <div className="flex flex-col gap-4">
      {shown.map((portrait) => (
        <Portrait key={portrait.name} portrait={portrait} numbers={numbers} />
      ))}
      {shown.every((portrait) => portrait.made_by === TEMPLATE) && (
        <p className="px-4 text-meta text-muted">{t("sources.phrasing.own")}</p>
      )}
    </div>
  );
}

/** A number for each cited memory, the same wherever the page cites it. */
function numberMemories(portraits: readonly PortraitView[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { sentences } of portraits) {
    for (const id of sentences.flatMap((sentence) => sentence.memory_ids)) {
      if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
    }
  }
  return numbers;
}

type Numbers = { numbers: ReadonlyMap<string, number> };

function Portrait({ portrait, numbers }: { portrait: PortraitView } & Numbers) {
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
        <span className="text-meta text-muted">
          <Time at={portrait.compiled_at} />
        </span>
      }
    >
      {/* One paragraph to read, and a list of sentences for screen readers. */}
      <ul className="max-w-prose text-lead leading-loose">
        {portrait.sentences.map((sentence) => (
          <li key={sentence.memory_ids.join(" ")} className="inline">
            <Sentence sentence={sentence} portrait={portrait} numbers={numbers} />
          </li>
        ))}
      </ul>
      {notes.length > 0 && <p className="pt-3 text-meta text-muted">{notes.join(" ")}</p>}
    </Card>
  );
}

/** A sentence, and a number for each memory it cites. */
function Sentence({
  sentence,
  portrait,
  numbers,
}: { sentence: SentenceView; portrait: PortraitView } & Numbers) {
  const likely = sentence.lead !== STATED;
  const byTemplate = portrait.made_by === TEMPLATE;
  return (
    <>
      {likely && <span className="text-muted">{t("sources.lead.likely")} </span>}
      {partsOf(sentence, { likely, byTemplate }).map(({ text, memories }) => (
        <Fragment key={memories.join(" ")}>
          <bdi>{text}</bdi> <Citations
            ids={memories}
            portrait={portrait.name}
            numbers={numbers}
          />{" "}
        </Fragment>
      ))}
    </>
  );
}

function Citations({
  ids,
  portrait,
  numbers,
}: { ids: readonly string[]; portrait: string } & Numbers) {
  const { byId } = useMemories();
  return (
    <span className="inline-flex gap-0.5 align-middle">
      {ids.map((id) => {
        const words = byId.get(id)?.content ?? "";
        const number = numbers.get(id) ?? 0;
        return (
          <Tooltip key={id} text={words || t("sources.level.memory")}>
            <Link
              to="/sources"
              search={{ portrait, memory: id }}
              aria-label={t("sources.cites", { number, words })}
              className={classes(
                "relative inline-flex h-6 min-w-6 items-center justify-center rounded-full bg-accent-soft px-1.5",
                "text-fine text-accent-text tabular-nums no-underline hover:bg-active",
                "pointer-coarse:after:absolute pointer-coarse:after:-inset-2.5",
              )}
            >
              {number}
            </Link>
          </Tooltip>
        );
      })}
    </span>
  );
}
