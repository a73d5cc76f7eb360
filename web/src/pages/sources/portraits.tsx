/** Portraits: sentences about the user, each with the memories it cites. */

import { Link } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import type { PortraitView } from "lukasa-client";
import type { ReactNode } from "react";
import { useMemories } from "../../data/memories.ts";
import { shownContent } from "../../data/shown-content.ts";
import { usePortraits } from "../../data/sources.ts";
import { t } from "../../i18n/index.ts";
import { portraitName } from "../../i18n/portraits.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import { type Paragraph, proseOf, TEMPLATE } from "./prose.ts";

export function Portraits({ only }: { only?: string }) {
  const portraits = usePortraits();
  const { byId } = useMemories();
  if (portraits.error) {
    return <ProblemCard error={portraits.error} retry={() => void portraits.refetch()} />;
  }
  if (!portraits.data) return <Skeleton />;
  const asked = portraits.data.filter((one) => !only || one.name === only);
  const prose = proseOf(asked, (id) => byId.get(id)?.domain ?? undefined);
  const paragraphsOf = ({ name }: PortraitView) => prose.get(name) ?? [];
  const shown = asked.filter((one) => paragraphsOf(one).length > 0);
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
  const numbers = numberMemories(shown.flatMap(paragraphsOf));
  return (
    <div className="flex flex-col gap-4">
      {shown.map((portrait) => (
        <Portrait
          key={portrait.name}
          portrait={portrait}
          paragraphs={paragraphsOf(portrait)}
          numbers={numbers}
        />
      ))}
      {shown.every((portrait) => portrait.made_by === TEMPLATE) && (
        <p className="px-4 text-meta text-muted">{t("sources.phrasing.own")}</p>
      )}
    </div>
  );
}

/** A number for each cited memory, the same wherever the page cites it. */
function numberMemories(paragraphs: readonly Paragraph[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { sentences } of paragraphs) {
    for (const id of sentences.flatMap((sentence) => sentence.memories)) {
      if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
    }
  }
  return numbers;
}

type Numbers = { numbers: ReadonlyMap<string, number> };

function Portrait({
  portrait,
  paragraphs,
  numbers,
}: { portrait: PortraitView; paragraphs: readonly Paragraph[] } & Numbers) {
  const notes = [
    portrait.made_by !== TEMPLATE && t("sources.phrasing.model", { model: portrait.made_by }),
    !portrait.fresh && t("sources.phrasing.stale"),
    portrait.left_out.length > 0 && t("sources.phrasing.left", { count: portrait.left_out.length }),
  ].filter((note) => note !== false);
  const likely = paragraphs.filter((one) => one.likely);
  const sentencesOf = ({ sentences }: Paragraph) => (
    <ul key={sentences[0]?.memories.join(" ")}>
      {sentences.map(({ text, memories }) => (
        <li key={memories.join(" ")} className="inline">
          <Cited text={text}>
            <Citations ids={memories} portrait={portrait.name} numbers={numbers} />
          </Cited>{" "}
        </li>
      ))}
    </ul>
  );
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
      {/* Paragraphs to read, and lists of sentences for screen readers. */}
      <div className="flex max-w-prose flex-col gap-3 text-lead leading-relaxed">
        {paragraphs.filter(({ likely }) => !likely).map(sentencesOf)}
        {likely.length > 0 && (
          <div className="flex flex-col gap-2 border-s-2 border-line ps-3">
            <p className="text-meta text-muted">{t("sources.lead.likely")}</p>
            {likely.map(sentencesOf)}
          </div>
        )}
      </div>
      {notes.length > 0 && <p className="pt-3 text-meta text-muted">{notes.join(" ")}</p>}
    </Card>
  );
}

/** A sentence whose citation stays on the line of its last word. */
function Cited({ text, children }: { text: string; children: ReactNode }) {
  const last = text.lastIndexOf(" ") + 1;
  return (
    <bdi>
      {text.slice(0, last)}
      <span className="whitespace-nowrap">
        {text.slice(last)} {children}
      </span>
    </bdi>
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
        const memory = byId.get(id);
        const words = memory ? shownContent(memory) : "";
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
