/**
 * Memory tool calls of an answer: searches with query and results, and writes as one line that expands and
 * can be undone.
 */

import { Link } from "@tanstack/react-router";
import { Check, ChevronRight, CircleAlert, Search } from "lucide-react";
import { LukasaError } from "lukasa-client";
import { type ReactNode, useId, useState } from "react";
import { useMemory } from "../../data/memories.ts";
import { shownContent } from "../../data/shown-content.ts";
import type { Call } from "../../features/chat/rounds.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Spinner } from "../../ui/spinner.tsx";

const READS = new Set(["recall_memories", "list_memories"]);

/** Whether a call has finished and written something: it is then shown below the reply. */
export function isWrite(call: Call): boolean {
  return !call.running && !call.failed && !READS.has(call.name);
}

/** The label of a call by its state; an unknown tool keeps its own name. */
function labelOf(call: Call): string {
  const form = call.running ? "doing" : call.failed ? "failed" : "done";
  const key = `chat.${form}.${call.name}`;
  return nameText(key, call.name);
}

/** A line that expands. */
export function Fold({
  icon,
  line,
  aside,
  children,
}: {
  icon: ReactNode;
  line: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="text-meta text-muted">
      <div className="flex min-w-0 items-center gap-2">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
          className="-ms-1.5 flex min-h-small min-w-0 items-center gap-1.5 rounded-control px-1.5 text-start hover:bg-hover hover:text-ink"
        >
          <span className="shrink-0 text-faint">{icon}</span>
          <span className="min-w-0 truncate">{line}</span>
          <ChevronRight
            size={13}
            aria-hidden
            className={classes(
              "shrink-0 text-faint transition-transform",
              open ? "rotate-90" : "rtl:rotate-180",
            )}
          />
        </button>
        {aside}
      </div>
      {open && (
        <div id={id} className="mt-1 mb-2 rounded-control border bg-surface px-3 py-2.5 text-ink">
          {children}
        </div>
      )}
    </div>
  );
}

/** A call that is running, has read something, or has failed. */
export function ToolCall({ call }: { call: Call }) {
  const icon = call.running ? (
    <Spinner />
  ) : call.failed ? (
    <CircleAlert size={14} aria-hidden className="text-warn" />
  ) : READS.has(call.name) ? (
    <Search size={14} aria-hidden />
  ) : (
    <Check size={14} aria-hidden />
  );
  const found = t("chat.found", { count: call.memories.length });
  return (
    <Fold
      icon={icon}
      line={
        <>
          {labelOf(call)}
          {!call.running && !call.failed && READS.has(call.name) && <> · {found}</>}
        </>
      }
      aside={call.running && <Badge tone="accent">{t("chat.running")}</Badge>}
    >
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        <Row name={t("chat.tool")}>
          <code className="font-mono text-fine">{call.name}</code>
        </Row>
        {call.query && (
          <Row name={t("chat.query")}>
            <span dir="auto">{call.query}</span>
          </Row>
        )}
        {call.failed && call.message && (
          <Row name={t("chat.answer")}>
            <span dir="auto">{call.message}</span>
          </Row>
        )}
        {call.memories.length > 0 && (
          <Row name={t("chat.results")}>
            <ul className="flex flex-col gap-1">
              {call.memories.map((id) => (
                <li key={id}>
                  <MemoryWords id={id} words={call.words[id]} link />
                </li>
              ))}
            </ul>
          </Row>
        )}
        {call.took !== null && (
          <Row name={t("chat.time")}>{t("chat.took", { count: call.took })}</Row>
        )}
      </dl>
    </Fold>
  );
}

export function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

/** The text of a memory: as given, or fetched by its id; a notice if it was erased. */
export function MemoryWords({ id, words, link }: { id: string; words?: string; link?: boolean }) {
  const memory = useMemory(id);
  const gone = memory.error instanceof LukasaError && memory.error.status === 404;
  if (gone) return <span className="text-faint italic">{t("chat.erased")}</span>;
  // The words are the stored ones of the memory, unless it has changed since.
  const isCurrent = memory.data && (words === undefined || words === memory.data.content);
  const text = isCurrent ? shownContent(memory.data) : (words ?? "…");
  if (!link) return <bdi>{text}</bdi>;
  return (
    <Link
      to="/memory/$id"
      params={{ id }}
      preload={false}
      className="text-ink underline decoration-line underline-offset-2 hover:decoration-current"
    >
      <bdi>{text}</bdi>
    </Link>
  );
}
