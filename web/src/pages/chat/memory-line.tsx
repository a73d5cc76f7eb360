/**
 * The line under a reply that changed a memory: what happened, the text, and Undo. It expands to the change
 * and when it applies. The data comes from the operation, so it is the same after a reload, and also when
 * the operation was undone elsewhere.
 */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BookmarkCheck } from "lucide-react";
import { LukasaError, type MemoryView, type OperationView } from "lukasa-client";
import { useLukasa } from "../../base/sign-in.ts";
import { useHistory, useMemory } from "../../data/memories.ts";
import { useProposalWrites } from "../../data/proposals.ts";
import { shownContent } from "../../data/shown-content.ts";
import { useWrite } from "../../data/writes.ts";
import type { Call } from "../../features/chat/rounds.ts";
import { Proposal } from "../../features/memory/proposals.tsx";
import { domainName } from "../../i18n/domains.ts";
import { known, nameText, t } from "../../i18n/index.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Diff } from "../../ui/diff.tsx";
import { Time } from "../../ui/time.tsx";
import { Fold, MemoryWords, Row } from "./calls.tsx";

export function MemoryLine({ call }: { call: Call }) {
  const id = call.memories[0];
  if (!call.operation) {
    return (
      <p className="flex min-h-small items-center gap-1.5 text-meta text-muted">
        <BookmarkCheck size={14} aria-hidden className="shrink-0 text-faint" />
        <span className="truncate">
          {t("chat.unchanged")}
          {id && (
            <>
              {" · "}
              <MemoryWords id={id} words={call.words[id]} />
            </>
          )}
        </span>
      </p>
    );
  }
  return <Written call={call} operation={call.operation} />;
}

function Written({ call, operation }: { call: Call; operation: string }) {
  const lukasa = useLukasa();
  const read = useQuery({
    queryKey: ["operations", operation],
    queryFn: ({ signal }) => lukasa.operations.get(operation, { signal }),
  });
  // A write that the model may not do by itself becomes a proposal, whichever tool it called.
  const proposed = read.data?.verb === "propose";
  // A proposed change lists the memory that it is about first, and its own id last.
  const id = read.data?.memory_ids.at(proposed ? -1 : 0) ?? call.memories[0];
  const undone = Boolean(read.data?.undone_by);
  const key = `chat.done.${proposed ? "propose_memory" : call.name}`;
  // A change that waits for the user's answer.
  const replaces = call.name === "update_memory";
  const gone = read.error instanceof LukasaError && read.error.status === 404;
  if (gone || !id) {
    return <p className="text-meta text-faint italic">{t("chat.erased")}</p>;
  }
  return (
    <Fold
      icon={<BookmarkCheck size={14} aria-hidden />}
      line={
        <>
          {undone ? t("chat.undone") : nameText(key, call.name)}
          {" · "}
          <span className={undone ? "line-through" : undefined}>
            <Words id={id} call={call} operation={read.data} />
          </span>
        </>
      }
      aside={
        read.data && (
          <>
            {proposed && !undone && <ConfirmProposal id={id} replaces={replaces} />}
            <UndoButton operation={read.data} words={call.words[id]} />
          </>
        )
      }
    >
      <WhatChanged
        id={id}
        call={call}
        operation={read.data}
        open={proposed && !undone}
        replaces={replaces}
      />
    </Fold>
  );
}

/** Confirms a proposal in place; a proposed change replaces the old memory. */
function ConfirmProposal({ id, replaces }: { id: string; replaces: boolean }) {
  const { accept, replace } = useProposalWrites();
  const memory = useMemory(id).data;
  if (memory?.status !== "proposed") return null;
  const agree = replaces ? replace : accept;
  return (
    <Button look="quiet" small className="shrink-0" onClick={() => void agree(memory)}>
      {t("chat.agree")}
    </Button>
  );
}

/** The versions of a memory before and after an operation. */
function useChange(id: string, operation: OperationView | undefined) {
  const history = useHistory(id);
  const at = operation?.at;
  const versions = history.data ?? [];
  const latest = (found: MemoryView[]) => found.toSorted((a, b) => b.version - a.version)[0];
  return {
    before: latest(versions.filter((version) => version.known_until === at)),
    after: latest(versions.filter((version) => version.known_from === at)),
  };
}

/** The text of the memory after the operation; for a change, the diff. */
function Words({
  id,
  call,
  operation,
}: {
  id: string;
  call: Call;
  operation: OperationView | undefined;
}) {
  const { before, after } = useChange(id, operation);
  if (before && after && before.content !== after.content) {
    return <Diff before={before.content} after={after.content} />;
  }
  return <MemoryWords id={id} words={after ? shownContent(after) : call.words[id]} />;
}

function UndoButton({ operation, words }: { operation: OperationView; words?: string }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useWrite();
  const by = operation.undone_by;
  const key = ["operations", operation.id];
  const show = (undone_by: string | null) => () => {
    queries.setQueryData(key, { ...operation, undone_by });
    return () => queries.setQueryData(key, operation);
  };
  const settle = () => void queries.invalidateQueries({ queryKey: key });
  const undo = () =>
    write({
      say: t("shell.undo.undone"),
      about: words,
      show: show(operation.id),
      run: () => lukasa.operations.undo(operation.id),
      after: settle,
    });
  const redo = () =>
    write({
      say: t("chat.broughtBack"),
      about: words,
      show: show(null),
      run: () => lukasa.operations.undo(by ?? operation.id),
      after: settle,
    });
  // While the undo is pending, `undone_by` is a placeholder: the id of the operation itself.
  const waiting = by === operation.id;
  return (
    <Button
      look="quiet"
      small
      className="shrink-0 underline decoration-line underline-offset-2"
      disabled={waiting}
      onClick={() => void (by ? redo() : undo())}
    >
      {by ? t("chat.bringBack") : t("shell.undo.undo")}
    </Button>
  );
}

function WhatChanged({
  id,
  call,
  operation,
  open,
  replaces,
}: {
  id: string;
  call: Call;
  operation: OperationView | undefined;
  /** Whether it is a proposal that was not undone. */
  open: boolean;
  replaces: boolean;
}) {
  const { before, after } = useChange(id, operation);
  const memory = useMemory(id).data ?? after;
  const applies = `chat.applies.${call.name}`;
  return (
    <div className="flex flex-col gap-2.5">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        <Row name={t("chat.words")}>
          {before && after && before.content !== after.content ? (
            <Diff before={before.content} after={after.content} />
          ) : (
            <MemoryWords id={id} words={after ? shownContent(after) : call.words[id]} />
          )}
        </Row>
        {memory && (
          <Row name={t("chat.scope")}>
            {memory.domain ? domainName(memory.domain) : t("chat.scopeAll")} ·{" "}
            {t(memory.force === "hard" ? "shell.force.hard" : "shell.force.soft")}
          </Row>
        )}
        <Row name={t("chat.appliesName")}>
          {operation?.undone_by
            ? t("chat.applies.undone")
            : known(applies)
              ? t(applies)
              : t("chat.applies.save_memory")}
        </Row>
        {operation && (
          <Row name={t("chat.time")}>
            <Time at={operation.at} absolute />
            {call.took !== null && <> · {t("chat.took", { count: call.took })}</>}
          </Row>
        )}
      </dl>
      {open && memory?.status === "proposed" && (
        <ul>
          <Proposal memory={memory} replaces={replaces} />
        </ul>
      )}
      <div className="flex flex-wrap gap-1.5">
        <Link to="/memory/$id" params={{ id }} className={buttonClasses("plain", true)}>
          {t("chat.openMemory")}
        </Link>
        {operation?.verb === "propose" && (
          <Link to="/review" className={buttonClasses("plain", true)}>
            {t("chat.openReview")}
          </Link>
        )}
      </div>
    </div>
  );
}
