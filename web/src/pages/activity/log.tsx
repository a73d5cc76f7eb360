/** All operations on the memory of this user, newest first, each with undo. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { MemoryView, OperationView } from "lukasa-client";
import { useEffect, useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { useApps } from "../../data/apps.ts";
import { isConsoleChat } from "../../data/console-chat.ts";
import { useMemories } from "../../data/memories.ts";
import { shownContent } from "../../data/shown-content.ts";
import { useWrite } from "../../data/writes.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Select } from "../../ui/select.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";

const route = getRouteApi("/activity");
const PAGE_SIZE = 100;
const MIN_SHOWN = 20;
const CALLERS = ["human", "key", "job"] as const;
const VERBS = [
  "save",
  "change",
  "correct",
  "confirm",
  "forget",
  "delete",
  "restore",
  "undo",
  "propose",
  "reject",
  "resolve",
  "learn",
  "consolidate",
  "import",
  "sync",
  "link",
  "unlink",
  "purge",
  "erase",
] as const;
/** Verbs that also apply to chats and turns. */
const SOURCES = new Set(["delete", "restore", "undo", "erase", "purge"]);
/** Verbs that cannot be undone. */
const FINAL = new Set(["erase", "purge"]);

export function ActivityLog() {
  const lukasa = useLukasa();
  const write = useWrite();
  const navigate = useNavigate();
  const { verb, caller } = route.useSearch();
  const { byId, complete } = useMemories();
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const log = useInfiniteQuery({
    queryKey: ["operations", "log"],
    queryFn: ({ pageParam, signal }) =>
      lukasa.operations.list({ limit: PAGE_SIZE, cursor: pageParam }, { signal }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const shown = (log.data?.pages ?? [])
    .flatMap((page) => page.data)
    .filter((one) => (!verb || one.verb === verb) && (!caller || one.caller === caller));
  const { hasNextPage, isFetching, fetchNextPage } = log;
  useEffect(() => {
    // The server does not filter the log, so read pages until enough entries match.
    if (shown.length < MIN_SHOWN && hasNextPage && !isFetching) void fetchNextPage();
  }, [shown.length, hasNextPage, isFetching, fetchNextPage]);

  const undo = (one: OperationView | undefined) => {
    if (!one || !mayUndo(one)) return;
    void write({ say: t("shell.undo.undone"), run: () => lukasa.operations.undo(one.id) }).then(
      () => log.refetch(),
    );
  };
  const move = (by: number) => {
    const next = Math.min(Math.max(at + by, 0), shown.length - 1);
    setAt(next);
    list.current?.querySelectorAll<HTMLElement>("[data-row]")[next]?.focus();
  };
  useShortcuts(t("activity.title"), [
    { keys: "j", label: t("activity.log.down"), run: () => move(1), quiet: true },
    { keys: "k", label: t("activity.log.up"), run: () => move(-1), quiet: true },
    { keys: "u", label: t("activity.log.undo"), run: () => undo(shown[at]), quiet: true },
  ]);
  const filter = (change: { verb?: string; caller?: string }) => {
    setAt(0);
    void navigate({
      to: "/activity",
      search: (before) => ({ ...before, ...change }),
      replace: true,
    });
  };
  if (log.error) return <ProblemCard error={log.error} retry={() => void log.refetch()} />;
  return (
    <>
      <div className="flex flex-wrap items-end gap-3">
        <p className="basis-full text-muted">{t("activity.log.text")}</p>
        <div className="w-44 max-sm:w-auto max-sm:min-w-32 max-sm:flex-1">
          <Select
            label={t("activity.log.verb")}
            value={verb ?? "all"}
            onChange={(chosen) => filter({ verb: chosen === "all" ? undefined : chosen })}
            choices={[
              { value: "all", text: t("activity.log.anyVerb") },
              ...VERBS.map((value) => ({
                value: value as string,
                text: t(`activity.verb.${value}`),
              })),
            ]}
          />
        </div>
        <div className="w-44 max-sm:w-auto max-sm:min-w-32 max-sm:flex-1">
          <Select
            label={t("activity.log.caller")}
            value={caller ?? "all"}
            onChange={(chosen) => filter({ caller: chosen === "all" ? undefined : chosen })}
            choices={[
              { value: "all", text: t("activity.log.anyCaller") },
              ...CALLERS.map((value) => ({
                value: value as string,
                text: t(`activity.caller.${value}`),
              })),
            ]}
          />
        </div>
      </div>
      <Card flush>
        {log.isPending ? (
          <Skeleton />
        ) : shown.length === 0 ? (
          <EmptyState title={t("activity.log.empty")} text={t("activity.log.emptyText")} />
        ) : (
          <ul ref={list} aria-label={t("activity.title")} className="divide-y divide-line">
            {shown.map((one, index) => (
              <Row
                key={one.id}
                operation={one}
                memory={byId.get(one.memory_ids[0] ?? "")}
                loading={!complete}
                current={index === Math.min(at, shown.length - 1)}
                onFocus={() => setAt(index)}
                onUndo={() => undo(one)}
              />
            ))}
          </ul>
        )}
      </Card>
      {hasNextPage && (
        <Button className="self-center" busy={isFetching} onClick={() => void fetchNextPage()}>
          {t("activity.log.older")}
        </Button>
      )}
    </>
  );
}

function mayUndo(one: OperationView): boolean {
  return !one.undone_by && !FINAL.has(one.verb);
}

function Row({
  operation,
  memory,
  loading,
  current,
  onFocus,
  onUndo,
}: {
  operation: OperationView;
  memory: MemoryView | undefined;
  /** Whether memories are still being loaded. */
  loading: boolean;
  current: boolean;
  onFocus: () => void;
  onUndo: () => void;
}) {
  const verb = `activity.verb.${operation.verb}`;
  const more = operation.memory_ids.length - 1;
  const apps = useApps();
  return (
    <li
      data-row
      tabIndex={current ? 0 : -1}
      onFocus={onFocus}
      className="flex min-h-row flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-1.5 -outline-offset-2"
    >
      <span
        className={classes(
          "w-28 shrink-0 max-sm:w-auto",
          operation.undone_by && "text-muted line-through",
        )}
      >
        {nameText(verb, operation.verb)}
      </span>
      <span className="min-w-0 flex-1 basis-48 truncate max-sm:order-last max-sm:basis-full">
        {memory ? (
          <Link
            to="/memory/$id"
            params={{ id: memory.id }}
            dir="auto"
            className="text-ink no-underline hover:underline"
          >
            {shownContent(memory)}
          </Link>
        ) : (
          <span className="text-muted">
            {operation.memory_ids.length > 0
              ? t(loading ? "shell.loading" : "activity.log.gone")
              : SOURCES.has(operation.verb) && t("activity.log.source")}
          </span>
        )}
        {more > 0 && <span className="text-muted"> {t("activity.log.more", { count: more })}</span>}
      </span>
      <span className="max-w-48 truncate text-meta text-muted">
        <bdi>{callerLabel(operation, memory, apps)}</bdi>
      </span>
      <span className="w-24 text-end text-meta text-muted max-sm:ms-auto max-sm:w-auto">
        <Time at={operation.at} />
      </span>
      <span className="flex w-24 justify-end max-sm:w-auto">
        {operation.undone_by ? (
          <Badge>{t("activity.log.undone")}</Badge>
        ) : mayUndo(operation) ? (
          <Button small look="quiet" onClick={onUndo}>
            {t("shell.undo.undo")}
          </Button>
        ) : (
          <Badge tone="warn">{t("activity.log.final")}</Badge>
        )}
      </span>
    </li>
  );
}

/** Who did it: the user by a chat here, or an app by its name, if the user may see it. */
function callerLabel(
  operation: OperationView,
  memory: MemoryView | undefined,
  { names, signIns }: ReturnType<typeof useApps>,
): string {
  if (isConsoleChat(operation, signIns, memory)) return t("activity.caller.chat");
  const app = operation.caller === "key" ? names.get(operation.credential) : undefined;
  return app ?? nameText(`activity.caller.${operation.caller}`, operation.caller);
}
