/** Chats by age, a search in all of them, and the trash. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArchiveRestore, Eraser, MessagesSquare, Trash2 } from "lucide-react";
import type { FoundSessionView, SessionView } from "lukasa-client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { usePreferences } from "../../base/preferences.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { curl } from "../../data/curl.ts";
import { hasHiddenTitle, turnText } from "../../data/hidden.ts";
import { groupByAge } from "../../data/recency.ts";
import { useSessions } from "../../data/sessions.ts";
import { useTitle } from "../../data/titles.ts";
import { daysLeft } from "../../data/trash.ts";
import { OlderChats } from "../../features/chat/older-chats.tsx";
import { useChatWrites } from "../../features/chat/writes.ts";
import { Quoted } from "../../features/sources/evidence.tsx";
import { t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Input } from "../../ui/field.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { useSeen } from "../../ui/seen.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time, useNow } from "../../ui/time.tsx";
import { useErase } from "./erasing.tsx";

export function Chats({ find }: { find?: string }) {
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState(find ?? "");
  useShortcuts(t("sources.title"), [
    { keys: "/", label: t("sources.chats.find"), run: () => field.current?.focus(), quiet: true },
  ]);
  // Update the address after a short delay.
  useEffect(() => {
    const wanted = words.trim() || undefined;
    if (wanted === find) return;
    const later = setTimeout(
      () =>
        void navigate({
          to: "/sources",
          search: { view: "chats", find: wanted },
          replace: true,
        }),
      200,
    );
    return () => clearTimeout(later);
  }, [words, find, navigate]);
  return (
    <div className="flex flex-col gap-4">
      <Input
        ref={field}
        type="search"
        aria-label={t("sources.chats.find")}
        placeholder={t("sources.chats.find")}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        className="max-w-md"
      />
      {find ? <FoundChats find={find} /> : <AllChats />}
    </div>
  );
}

function FoundChats({ find }: { find: string }) {
  const lukasa = useLukasa();
  const found = useQuery({
    queryKey: ["sessions", "search", find],
    queryFn: ({ signal }) => lukasa.sessions.search(find, { limit: 50, signal }),
    placeholderData: (before) => before,
  });
  if (found.error) return <ProblemCard error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton rows={3} />;
  if (found.data.data.length === 0) return <p className="text-muted">{t("shell.palette.none")}</p>;
  return (
    <Card flush>
      <ul className="divide-y divide-line">
        {found.data.data.map((one) => (
          <FoundRow key={one.session.id} found={one} find={find} />
        ))}
      </ul>
    </Card>
  );
}

function FoundRow({ found, find }: { found: FoundSessionView; find: string }) {
  const { session, best } = found;
  const words = find.split(/\s+/);
  const title = useTitle(session);
  return (
    <li>
      <Link
        to="/sources"
        search={{ session: session.id, turn: best?.number }}
        className="block px-4 py-2.5 text-ink no-underline -outline-offset-2 hover:bg-hover"
      >
        <span className="flex items-baseline justify-between gap-3">
          <strong className="min-w-0 truncate font-medium" dir="auto">
            {title}
          </strong>
          <span className="text-meta text-muted">
            <Time at={best?.said_at ?? session.last_turn_at} />
          </span>
        </span>
        {best && (
          <span className="block text-muted">
            <Quoted text={turnText(best)} quotes={words} />
          </span>
        )}
      </Link>
    </li>
  );
}

function AllChats() {
  const sessions = useSessions();
  const now = useNow();
  const { timeZone } = usePreferences();
  const writes = useChatWrites();
  const signIn = useSignIn();
  if (sessions.error) {
    return <ProblemCard error={sessions.error} retry={() => void sessions.refetch()} />;
  }
  if (!sessions.data) return <Skeleton />;
  // Incognito and empty chats have nothing to read.
  const read = sessions.data.filter((session) => !session.incognito && session.turns > 0);
  if (read.length === 0 && !sessions.hasNextPage) {
    return (
      <EmptyState
        icon={<MessagesSquare size={20} aria-hidden />}
        title={t("sources.chats.empty")}
        text={t("sources.chats.emptyText")}
        snippet={curl(
          "/api/sessions/chat-1/turns",
          '{"turns": [{"role": "user", "content": "I moved to Lisbon"}]}',
          signIn,
        )}
      />
    );
  }
  return (
    <>
      {groupByAge(read, now, timeZone).map(({ age, sessions: some }) => (
        <Card key={age} title={t(`sources.when.${age}`)} flush>
          <ul className="divide-y divide-line">
            {some.map((session) => (
              <Row key={session.id} session={session}>
                {(title) => (
                  <IconButton
                    small
                    label={t("sources.chats.delete", { title })}
                    onClick={() => void writes.delete(session, title)}
                  >
                    <Trash2 size={14} aria-hidden />
                  </IconButton>
                )}
              </Row>
            ))}
          </ul>
        </Card>
      ))}
      <OlderChats of={sessions} />
    </>
  );
}

export function Trash() {
  const lukasa = useLukasa();
  const writes = useChatWrites();
  const erase = useErase();
  const trashed = useSessions({ trashed: true });
  if (trashed.error) {
    return <ProblemCard error={trashed.error} retry={() => void trashed.refetch()} />;
  }
  if (!trashed.data) return <Skeleton rows={3} />;
  if (trashed.data.length === 0) {
    return (
      <EmptyState
        icon={<Trash2 size={20} aria-hidden />}
        title={t("sources.trash.empty")}
        text={t("sources.trash.emptyText")}
      />
    );
  }
  return (
    <>
      <Card flush>
        <ul className="divide-y divide-line">
          {trashed.data.map((session) => (
            <Row key={session.id} session={session}>
              {(title) => (
                <>
                  <IconButton
                    small
                    label={t("sources.chats.restore", { title })}
                    onClick={() => void writes.restore(session, title)}
                  >
                    <ArchiveRestore size={14} aria-hidden />
                  </IconButton>
                  {erase && (
                    <IconButton
                      small
                      label={t("sources.chats.erase", { title })}
                      onClick={() =>
                        erase({
                          word: hasHiddenTitle(session) ? undefined : session.title || undefined,
                          goes: t("sources.chats.goes", { title, count: session.turns }),
                          run: () => lukasa.sessions.erase(session.id),
                        })
                      }
                    >
                      <Eraser size={14} aria-hidden />
                    </IconButton>
                  )}
                </>
              )}
            </Row>
          ))}
        </ul>
      </Card>
      <OlderChats of={trashed} />
    </>
  );
}

function Row({
  session,
  children,
}: {
  session: SessionView;
  /** The actions, given the title of the chat. */
  children: (title: string) => ReactNode;
}) {
  const place = useRef<HTMLLIElement>(null);
  const title = useTitle(session, useSeen(place));
  const now = useNow();
  const line = (
    <>
      <span className="min-w-0 flex-1 truncate" dir="auto">
        {title}
      </span>
      <span className="text-meta whitespace-nowrap text-muted max-sm:hidden">
        {t("sources.chats.turns", { count: session.turns })}
      </span>
      <span className="text-meta whitespace-nowrap text-muted">
        {session.trashed_at ? (
          t("memory.daysLeft", { count: daysLeft(session.trashed_at, now) })
        ) : (
          <Time at={session.last_turn_at} />
        )}
      </span>
    </>
  );
  const look = "flex min-h-row min-w-0 flex-1 items-center gap-4 ps-4 pe-1 text-ink";
  return (
    <li ref={place} className="flex items-center gap-1 pe-2 hover:bg-hover">
      {session.trashed_at ? (
        <span className={look}>{line}</span>
      ) : (
        <Link
          to="/sources"
          search={{ session: session.id }}
          className={`${look} no-underline -outline-offset-2`}
        >
          {line}
        </Link>
      )}
      {children(title)}
    </li>
  );
}
