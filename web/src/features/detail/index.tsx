/** One memory with all that is known about it: in the panel, in the sheet of phones, and on its pages. */

import { Link } from "@tanstack/react-router";
import { LukasaError, type MemoryView } from "lukasa-client";
import { lazy, Suspense, useRef, useState } from "react";
import { useSignIn } from "../../base/sign-in.ts";
import { useAppNames } from "../../data/apps.ts";
import { useSteps } from "../../data/history.ts";
import { useMemory } from "../../data/memories.ts";
import type { PointInTime } from "../../data/past.ts";
import { useDisputed } from "../../data/review.ts";
import { sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { answersIn, useUsage } from "../../data/sources.ts";
import { detail } from "../../i18n/en/detail.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClasses } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useMemoryActions } from "../memory/actions.ts";
import { Certainty, Force, SourceIcon } from "../memory/badges.tsx";
import { ChangedForm } from "../memory/changed-form.tsx";
import { EditForm } from "../memory/edit-form.tsx";
import { EraseMemory } from "../memory/erase-memory.tsx";
import { HistorySteps } from "../memory/history.tsx";
import { labelFor } from "../memory/labels.ts";
import { Links } from "../memory/links.tsx";
import { Properties } from "../memory/properties.tsx";
import { Proposal } from "../memory/proposals.tsx";
import { MemoryVerbs } from "../memory/verbs.tsx";
import type { SourceLevels } from "../sources/levels.ts";
import { AnswersPart } from "./answers-part.tsx";
import { RelatedPart } from "./related-part.tsx";
import { SourcesPart } from "./sources-part.tsx";

addMessages({ detail });

const Ratings = lazy(() => import("../memory/ratings.tsx"));

const PARTS = ["about", "sources", "history", "used"] as const;
type Part = (typeof PARTS)[number];
/** The parts of the address that show a form above the tabs. */
const FORMS = ["edit", "changed"];
/** Longer texts are set smaller. */
const MAX_TITLE_LENGTH = 140;

export interface DetailProps {
  id: string;
  then?: PointInTime;
  /** The open part: a tab, or the form of a verb. */
  part?: string;
  onPart: (part: string | undefined) => void;
  /** The levels above, for the links to its sources. */
  from?: SourceLevels;
  onErased: () => void;
}

export function Detail({ id, then, onErased, ...rest }: DetailProps) {
  const memory = useMemory(id, then ?? {});
  // Kept during erasing, because afterwards the memory cannot be fetched any more.
  const [erasing, setErasing] = useState<MemoryView>();
  const gone = memory.error instanceof LukasaError && memory.error.status === 404;
  return (
    <>
      {gone && !erasing && (
        <EmptyState
          title={t(then ? "memory.notYet" : "memory.gone")}
          text={t(then ? "memory.notYetText" : "memory.goneText")}
        />
      )}
      {memory.error && !gone && (
        <ProblemCard error={memory.error} retry={() => void memory.refetch()} />
      )}
      {memory.isPending && !memory.data && <Spinner page />}
      {memory.data && !gone && (
        <Shown
          memory={memory.data}
          readOnly={then !== undefined}
          onErase={() => setErasing(memory.data)}
          {...rest}
        />
      )}
      {erasing && (
        <EraseMemory
          memory={erasing}
          onClose={(erased) => {
            setErasing(undefined);
            if (erased) onErased();
          }}
        />
      )}
    </>
  );
}

interface ShownProps extends Pick<DetailProps, "part" | "onPart" | "from"> {
  memory: MemoryView;
  readOnly: boolean;
  onErase: () => void;
}

function Shown({ memory, readOnly, part, onPart, from, onErase }: ShownProps) {
  const { permissions } = useSignIn();
  const disputed = useDisputed().has(memory.id);
  const actions = useMemoryActions().forMemory(memory);
  const form = !readOnly && FORMS.includes(part ?? "") ? part : undefined;
  const place = useRef<HTMLDivElement>(null);
  const done = (sent: boolean) => {
    // The focused form is removed.
    place.current?.focus({ preventScroll: true });
    // After a change the history shows what changed.
    onPart(sent ? "history" : undefined);
  };
  const mayErase = permissions.includes("erase");
  return (
    <div ref={place} tabIndex={-1} className="flex flex-col gap-4 outline-none">
      <div className="flex flex-col gap-3">
        {form === "edit" ? (
          <EditForm memory={memory} onDone={done} />
        ) : (
          <h2
            dir="auto"
            className={classes(
              "whitespace-pre-wrap",
              memory.content.length > MAX_TITLE_LENGTH ? "text-lead" : "text-title",
            )}
          >
            {shownContent(memory)}
          </h2>
        )}
        {form === "changed" && <ChangedForm memory={memory} onDone={done} />}
        {/* On phones a form has the sheet to itself. */}
        <div className={classes("flex flex-col gap-3", form && "max-sm:hidden")}>
          <Marks memory={memory} onEdit={readOnly ? undefined : () => onPart("edit")} />
          {!readOnly && disputed && (
            <p className="flex flex-wrap items-center gap-x-3 rounded-control bg-warn-soft px-3 py-2">
              {t("memory.disputedText")}
              <Link
                to="/review"
                search={{ kind: "contradiction" }}
                className={buttonClasses("plain", true)}
              >
                {t("memory.unused.decide")}
              </Link>
            </p>
          )}
          {memory.status === "proposed" && !readOnly ? (
            <ul>
              <Proposal memory={memory} />
            </ul>
          ) : (
            !readOnly &&
            !form && (
              <MemoryVerbs
                memory={memory}
                actions={actions}
                keys
                onPart={onPart}
                onErase={mayErase ? onErase : undefined}
              />
            )
          )}
        </div>
      </div>
      <div className={classes("flex flex-col gap-4", form && "max-sm:hidden")}>
        <Parts memory={memory} readOnly={readOnly} part={part} onPart={onPart} from={from} />
      </div>
    </div>
  );
}

/** How certain it is, where it came from, and what is unusual about it. */
function Marks({ memory, onEdit }: { memory: MemoryView; onEdit?: () => void }) {
  const saved = useSteps(memory.id).data?.at(-1)?.operation;
  const app = useAppNames().get(saved?.credential ?? "");
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-meta text-muted">
      {memory.status !== "active" && <Badge tone="warn">{labelFor("status", memory.status)}</Badge>}
      <Certainty memory={memory} />
      {memory.force === "hard" && <Force force={memory.force} words />}
      <SourceIcon source={sourceOf(memory)} app={app} words />
      {onEdit && memory.status === "active" && (
        <Suspense>
          <Ratings memory={memory} onEdit={onEdit} />
        </Suspense>
      )}
    </div>
  );
}

function Parts({ memory, readOnly, part, onPart, from }: Omit<ShownProps, "onErase">) {
  const usage = useUsage(memory.id);
  const open = PARTS.find((one) => one === part) ?? "about";
  const sources = memory.evidence.length || memory.turn_ids.length;
  const counts: Record<Part, number> = {
    about: 0,
    sources,
    history: memory.version,
    used: usage.data ? answersIn(usage.data).length : 0,
  };
  return (
    <Tabs
      label={t("detail.parts")}
      value={open}
      tabs={PARTS.map((value) => ({
        value,
        label: t(`detail.part.${value}`),
        count: counts[value] || undefined,
      }))}
      onChange={onPart}
    >
      <section aria-label={t(`detail.part.${open}`)} className="flex flex-col gap-5">
        {open === "sources" ? (
          <SourcesPart memory={memory} from={from ?? { memory: memory.id }} />
        ) : open === "history" ? (
          <HistorySteps memory={memory} readOnly={readOnly} />
        ) : open === "used" ? (
          <AnswersPart memory={memory} />
        ) : (
          <>
            {memory.detail && (
              <p dir="auto" className="whitespace-pre-wrap text-muted">
                {memory.detail}
              </p>
            )}
            <Properties memory={memory} />
            <Links memory={memory} readOnly={readOnly} />
            {/* The clusters are those of today. */}
            {!readOnly && memory.status === "active" && <RelatedPart memory={memory} />}
          </>
        )}
      </section>
    </Tabs>
  );
}
