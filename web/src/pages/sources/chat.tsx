/** One chat for reading, with what was learned from each turn. */

import { useNavigate } from "@tanstack/react-router";
import { FileQuestion, Trash2 } from "lucide-react";
import type { DependentMemory, PassView, SessionView, TurnView } from "lukasa-client";
import { useMemo, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { hasHiddenTitle, turnText } from "../../data/hidden.ts";
import { useTurns } from "../../data/sessions.ts";
import { useDependents, useOneSession, usePasses } from "../../data/sources.ts";
import { useTitle } from "../../data/titles.ts";
import { useWrite } from "../../data/writes.ts";
import { TrashedChat } from "../../features/chat/trashed-chat.tsx";
import { useChatWrites } from "../../features/chat/writes.ts";
import { LearningState, LearnNow, LeftOut } from "../../features/learning/learning.tsx";
import { listFormat } from "../../i18n/formats.ts";
import { known, locale, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { parentLevel } from "./breadcrumb.tsx";
import type { SourcesParams } from "./params.ts";
import { Removal } from "./removal.tsx";
import { Turn } from "./turn.tsx";
import { TurnList } from "./turn-list.tsx";

export function ChatLevel({ search }: { search: SourcesParams & { session: string } }) {
  const chat = useOneSession(search.session);
  if (chat.error) return <ProblemCard error={chat.error} retry={() => void chat.refetch()} />;
  if (chat.isPending) return <Skeleton rows={3} />;
  if (!chat.data) {
    return <EmptyState title={t("sources.gone")} text={t("sources.missing.deleted")} />;
  }
  if (chat.data.trashed_at) return <TrashedChat session={chat.data} />;
  return <Reader key={chat.data.id} session={chat.data} search={search} />;
}

function Reader({
  session,
  search,
}: {
  session: SessionView;
  search: SourcesParams & { session: string };
}) {
  const lukasa = useLukasa();
  const write = useWrite();
  const navigate = useNavigate();
  const [showHidden, setShowHidden] = useState(false);
  const turns = useTurns(session.id, showHidden);
  const passes = usePasses(session.id);
  const dependents = useDependents({ session_id: session.id });
  const shown = useOneSession(session.id, showHidden).data ?? session;
  const title = useTitle(shown);
  const chats = useChatWrites();
  // What is being removed: the chat, or one turn of it.
  const [removing, setRemoving] = useState<"chat" | number>();
  const allTurns = turns.data ?? [];
  const byNumber = useMemo(
    () => new Map(turns.data?.map((turn) => [turn.number, turn])),
    [turns.data],
  );
  const passesByEnd = useMemo(
    () => new Map(passes.data?.toReversed().map((pass) => [pass.last_turn, pass])),
    [passes.data],
  );
  const cited = useCited(dependents.data?.memories ?? []);
  const at = allTurns.findIndex((turn) => turn.number === search.turn);
  const go = (turn: TurnView | undefined) => {
    if (!turn) return;
    setRemoving(undefined);
    const next = { ...search, turn: turn.number };
    void navigate({ to: "/sources", search: next, replace: true, resetScroll: false });
  };
  const why = (turn: TurnView) =>
    void navigate({ to: "/sources", search: { ...search, turn: turn.number, why: true } });
  const chosen = allTurns[at];
  useShortcuts(t("sources.title"), [
    { keys: "j", label: t("sources.key.next"), run: () => go(allTurns[at + 1]) },
    { keys: "k", label: t("sources.key.before"), run: () => go(allTurns[Math.max(at, 1) - 1]) },
    ...(chosen?.role === "assistant"
      ? [{ keys: "y", label: t("sources.why.short"), run: () => why(chosen) }]
      : []),
    {
      keys: "d",
      label: t("sources.depends.open"),
      run: () => {
        if (chosen) setRemoving(chosen.number);
        else if (search.turn === undefined) setRemoving("chat");
      },
    },
  ]);
  const removeTurn = (turn: TurnView) => {
    setRemoving(undefined);
    void write({
      say: ({ reached }) => t("sources.deleted", { count: reached?.withdrawn ?? 0 }),
      about: turnText(turn),
      run: () => lukasa.turns.delete(turn.id),
    });
  };
  const leave = () =>
    void navigate({ to: "/sources", search: parentLevel({ session: session.id }) });
  return (
    <div className="flex flex-col gap-4">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div>
          <h2 dir="auto" className="text-title">
            {title}
            {hasHiddenTitle(shown) && (
              <Button
                small
                look="quiet"
                aria-label={t("sources.showTitle")}
                className="ms-2"
                onClick={() => setShowHidden(true)}
              >
                {t("sources.showHidden")}
              </Button>
            )}
          </h2>
          <p className="flex flex-wrap gap-x-3 text-meta text-muted">
            <span>{t("sources.chats.turns", { count: session.turns })}</span>
            <Time at={allTurns[0]?.said_at ?? session.opened_at} absolute />
            {session.incognito && <Badge>{t("sources.incognito")}</Badge>}
          </p>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <LearningState session={session} />
            <LearnNow session={session} />
          </div>
        </div>
        <Button small onClick={() => setRemoving("chat")}>
          <Trash2 size={14} aria-hidden />
          {t("sources.depends.open")}
        </Button>
      </header>
      {removing === "chat" && (
        <Removal
          source={{ session_id: session.id }}
          name={hasHiddenTitle(shown) ? undefined : shown.title || undefined}
          onClose={() => setRemoving(undefined)}
          onDelete={() => {
            leave();
            void chats.delete(session, title);
          }}
          onErase={async () => {
            const written = await lukasa.sessions.erase(session.id);
            leave();
            return written;
          }}
        />
      )}
      {turns.error && <ProblemCard error={turns.error} retry={() => void turns.refetch()} />}
      {turns.isPending && <Skeleton rows={4} />}
      {turns.data && (
        <TurnList count={lastNumber(session, allTurns)} chosen={search.turn}>
          {(number) => {
            const turn = byNumber.get(number);
            const pass = passesByEnd.get(number);
            return (
              <>
                {turn ? (
                  <Turn
                    turn={turn}
                    cited={cited.get(turn.id) ?? NONE}
                    chosen={turn.number === search.turn}
                    search={search}
                    onWhy={() => why(turn)}
                    onRemove={() => setRemoving(turn.number)}
                    onShow={() => setShowHidden(true)}
                  >
                    {removing === turn.number && (
                      <Removal
                        source={{ turn_id: turn.id }}
                        name={t("sources.level.turn", { number: turn.number })}
                        onClose={() => setRemoving(undefined)}
                        onDelete={() => removeTurn(turn)}
                        onErase={async () => {
                          const written = await lukasa.turns.erase(turn.id);
                          setRemoving(undefined);
                          return written;
                        }}
                      />
                    )}
                  </Turn>
                ) : (
                  <Missing number={number} session={session} />
                )}
                {pass && <Learned pass={pass} />}
                {pass && pass.left_out.length > 0 && (
                  <div className="px-4 py-1.5">
                    <div className="rounded-card border bg-surface">
                      <LeftOut passes={[pass]} />
                    </div>
                  </div>
                )}
              </>
            );
          }}
        </TurnList>
      )}
    </div>
  );
}

const NONE: readonly DependentMemory[] = [];
/** The number of the last turn, which may no longer be stored. */
function lastNumber(session: SessionView, turns: readonly TurnView[]): number {
  return Math.max(session.turns, turns.at(-1)?.number ?? 0);
}

/** The memories that cite each turn. */
function useCited(memories: readonly DependentMemory[]) {
  return useMemo(() => {
    const cited = new Map<string, DependentMemory[]>();
    for (const one of memories) {
      for (const id of one.memory.turn_ids) cited.set(id, [...(cited.get(id) ?? []), one]);
    }
    return cited;
  }, [memories]);
}

function Missing({ number, session }: { number: number; session: SessionView }) {
  const policy = session.keep_turns !== "full" && number <= session.extracted_through;
  return (
    <p className="flex items-center gap-2 px-4 py-2 text-meta text-muted">
      <FileQuestion size={14} aria-hidden className="shrink-0 text-faint" />
      {t("sources.level.turn", { number })}:{" "}
      {t(policy ? "sources.missing.policy" : "sources.missing.deleted")}
    </p>
  );
}

/** The end of a learning pass, and its result. */
function Learned({ pass }: { pass: PassView }) {
  if (!pass.applied_at) return null;
  const counted = (what: string, of: unknown) =>
    Object.entries((of ?? {}) as Record<string, number>).map(([word, count]) => {
      const key = `sources.${what}.${word}`;
      return known(key) ? t(key, { count }) : `${count} ${word.replaceAll("_", " ")}`;
    });
  const list = (parts: string[]) =>
    listFormat(locale(), { type: "unit", style: "short" }).format(parts);
  const learned = counted("pass", pass.outcome.learned);
  const left = counted("left", pass.outcome.left);
  return (
    <div className="flex flex-wrap items-center gap-x-3 px-4 py-1.5 text-fine text-muted">
      <span aria-hidden className="h-px min-w-4 flex-1 bg-line" />
      <span>
        {learned.length > 0
          ? t("sources.pass.learned", { what: list(learned) })
          : t("sources.pass.nothing")}
        {left.length > 0 && ` · ${t("sources.pass.left", { what: list(left) })}`}
      </span>
      <span aria-hidden className="h-px min-w-4 flex-1 bg-line" />
    </div>
  );
}
