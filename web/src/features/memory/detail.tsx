/** Everything about one memory, for the side panel and the full page. */

import { Link, useRouter } from "@tanstack/react-router";
import { Eraser, FileSearch, MessageSquareText } from "lucide-react";
import { LukasaError, type MemoryView } from "lukasa-client";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { useSignIn } from "../../base/sign-in.ts";
import { useMemory } from "../../data/memories.ts";
import type { PointInTime } from "../../data/past.ts";
import { sourceOf } from "../../data/select.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { useMemoryActions } from "./actions.ts";
import { Certainty, Force, SourceIcon } from "./badges.tsx";
import { EditForm } from "./edit-form.tsx";
import { EraseMemory } from "./erase-memory.tsx";
import { HistorySteps } from "./history.tsx";
import { labelFor } from "./labels.ts";
import { Links } from "./links.tsx";
import { Properties } from "./properties.tsx";
import { Proposal } from "./proposals.tsx";

const Ratings = lazy(() => import("./ratings.tsx"));

export function Detail({
  id,
  then,
  part,
  onErased,
  onEdited,
}: {
  id: string;
  then?: PointInTime;
  /** The part to open: `history` or `edit`. */
  part?: string;
  onErased: () => void;
  onEdited?: () => void;
}) {
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
        <About
          memory={memory.data}
          readOnly={then !== undefined}
          part={part}
          onErase={() => setErasing(memory.data)}
          onEdited={onEdited}
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

function About({
  memory,
  readOnly,
  part,
  onErase,
  onEdited,
}: {
  memory: MemoryView;
  readOnly: boolean;
  part: string | undefined;
  onErase: () => void;
  onEdited: (() => void) | undefined;
}) {
  const { permissions } = useSignIn();
  const [editing, setEditing] = useState(part === "edit");
  useEffect(() => {
    if (part === "edit") setEditing(true);
  }, [part]);
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-col gap-3">
        {editing && !readOnly ? (
          <EditForm
            memory={memory}
            onDone={() => {
              setEditing(false);
              onEdited?.();
            }}
          />
        ) : (
          <p dir="auto" className="text-lead leading-snug whitespace-pre-wrap">
            {memory.content}
          </p>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-meta text-muted">
          {memory.status !== "active" && (
            <Badge tone="warn">{labelFor("status", memory.status)}</Badge>
          )}
          <Certainty memory={memory} />
          {memory.force === "hard" && <Force force={memory.force} words />}
          <SourceIcon source={sourceOf(memory)} words />
        </div>
        <ActionButtons memory={memory} readOnly={readOnly} onEdit={() => setEditing(true)} />
        {!readOnly && memory.status === "active" && (
          <Suspense>
            <Ratings memory={memory} onEdit={() => setEditing(true)} />
          </Suspense>
        )}
      </div>
      {memory.detail && (
        <Part title={t("memory.field.detail")}>
          <p dir="auto" className="whitespace-pre-wrap text-muted">
            {memory.detail}
          </p>
        </Part>
      )}
      <Properties memory={memory} />
      <Provenance memory={memory} />
      <Links memory={memory} readOnly={readOnly} />
      <HistoryPart memory={memory} readOnly={readOnly} asked={part === "history"} />
      {!readOnly && permissions.includes("erase") && (
        <div className="border-t pt-3">
          <Button small look="quiet" className="!text-bad" onClick={onErase}>
            <Eraser size={14} aria-hidden />
            {t("memory.act.erase")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Actions with their own place here, or only for rows. */
const ELSEWHERE = ["history", "sources", "select"];

/** The actions as buttons with their shortcuts, and a link to change the memory in a chat. */
function ActionButtons({
  memory,
  readOnly,
  onEdit,
}: {
  memory: MemoryView;
  readOnly: boolean;
  onEdit: () => void;
}) {
  const router = useRouter();
  const actions = useMemoryActions();
  const available = actions.forMemory(memory).filter(({ name }) => !ELSEWHERE.includes(name));
  if (memory.status === "proposed" && !readOnly) {
    return (
      <ul>
        <Proposal memory={memory} />
      </ul>
    );
  }
  if (available.length === 0) return null;
  const ask = `/chat?about=${encodeURIComponent(memory.id)}`;
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {available.map((action) => (
        <Button
          key={action.name}
          small
          onClick={() => (action.name === "edit" ? onEdit() : action.run(memory, () => {}))}
        >
          {action.label}
          <Kbd keys={action.key} />
        </Button>
      ))}
      {memory.status === "active" && (
        <a
          href={ask}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            router.history.push(ask);
          }}
          className={buttonClasses("quiet", true)}
        >
          <MessageSquareText size={14} aria-hidden />
          {t("memory.ask")}
        </a>
      )}
    </div>
  );
}

export function Part({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-fine font-medium text-muted">{title}</h3>
      {children}
    </section>
  );
}

/** The provenance in short; the Sources page has all of it. */
function Provenance({ memory }: { memory: MemoryView }) {
  return (
    <Part title={t("memory.part.provenance")}>
      {memory.evidence.map((one) => (
        <blockquote
          key={`${one.turn_id ?? ""} ${one.description}`}
          dir="auto"
          className="border-s-2 border-line ps-2.5 text-muted"
        >
          {one.description}
        </blockquote>
      ))}
      {memory.reasoning && (
        <p dir="auto" className="text-muted">
          {memory.reasoning}
        </p>
      )}
      {memory.evidence.length === 0 && !memory.reasoning && (
        <p className="text-muted">{t(`memory.provenance.${sourceOf(memory)}`)}</p>
      )}
      <div>
        <Link to="/sources" search={{ memory: memory.id }} className={buttonClasses("plain", true)}>
          <FileSearch size={14} aria-hidden />
          {t("memory.act.sources")}
          <Kbd keys="s" />
        </Link>
      </div>
    </Part>
  );
}

function HistoryPart({
  memory,
  readOnly,
  asked,
}: {
  memory: MemoryView;
  readOnly: boolean;
  asked: boolean;
}) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!asked || !place.current) return;
    place.current.scrollIntoView({ block: "start" });
    place.current.focus({ preventScroll: true });
  }, [asked]);
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label={t("memory.act.history")}
      className="flex scroll-mt-2 flex-col gap-2 outline-none"
    >
      <h3 className="text-fine font-medium text-muted">{t("memory.act.history")}</h3>
      <HistorySteps memory={memory} readOnly={readOnly} />
    </section>
  );
}
