/** The chats by recency, with search, rename, archive and delete. A column beside the chat, a drawer on phones. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import {
  Archive,
  ArchiveRestore,
  ChevronRight,
  MoreHorizontal,
  Pencil,
  Plus,
  Search,
  Trash2,
} from "lucide-react";
import type { SessionView } from "lukasa-client";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useDeferredValue,
  useEffect,
  useRef,
  useState,
} from "react";
import { usePreferences } from "../../base/preferences.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { hasHiddenTitle, shownTitle } from "../../data/hidden.ts";
import { groupByAge } from "../../data/recency.ts";
import { plain } from "../../data/select.ts";
import { useSessions } from "../../data/sessions.ts";
import { useTitle } from "../../data/titles.ts";
import { OlderChats } from "../../features/chat/older-chats.tsx";
import { useAnswering } from "../../features/chat/use-live-chats.ts";
import { useChatWrites } from "../../features/chat/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Input } from "../../ui/field.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { useSeen } from "../../ui/seen.ts";
import { Spinner } from "../../ui/spinner.tsx";
import { useNow } from "../../ui/time.tsx";

export function Sidebar({
  open,
  find,
  renaming,
  rename,
  done,
}: {
  /** The chat that is open. */
  open: string | null;
  find?: RefObject<HTMLInputElement | null>;
  /** The chat that is being renamed. */
  renaming: string | null;
  rename: (session: string | null) => void;
  /** Called when a chat was chosen. */
  done?: () => void;
}) {
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const { groups, sessions: chats } = useGroups(text, open);
  const [at, setAt] = useState<string | null>(null);
  const [archive, setArchive] = useState<boolean | null>(null);
  const isArchive = (name: string) => name === t("chat.age.archived");
  // Folded, unless the open chat is in it.
  const unfolded =
    archive ??
    groups.some((group) => isArchive(group.name) && group.sessions.some(({ id }) => id === open));
  const shown = groups.filter((group) => unfolded || !isArchive(group.name));
  const all = shown.flatMap((group) => group.sessions);
  const reachable = [at, open, all[0]?.id].find((id) => all.some((one) => one.id === id));
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || (event.target as HTMLElement).matches("input")) return;
    event.preventDefault();
    const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a[data-chat]")];
    const from = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, Math.min(links.length - 1, from + step))]?.focus();
  };
  return (
    <div className="flex h-full min-h-0 flex-col gap-2 p-2.5">
      <Button
        onClick={() => {
          done?.();
          void navigate({ to: "/chat" });
        }}
        className="justify-start"
      >
        <Plus size={15} aria-hidden />
        <span className="flex-1 text-start">{t("chat.new")}</span>
        <Kbd keys="n" />
      </Button>
      <div className="relative">
        <Search
          size={14}
          aria-hidden
          className="pointer-events-none absolute start-2.5 top-1/2 -translate-y-1/2 text-faint"
        />
        <Input
          ref={find}
          type="search"
          aria-label={t("chat.find")}
          placeholder={t("chat.find")}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="ps-8"
        />
      </div>
      <nav
        aria-label={t("chat.chats")}
        onKeyDown={move}
        className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1 pb-2"
      >
        {groups.map(({ name, sessions }) => (
          <Group
            key={name}
            name={name}
            unfolded={isArchive(name) ? unfolded : undefined}
            unfold={setArchive}
          >
            <ul className="flex flex-col gap-px">
              {sessions.map((session) => (
                <Entry
                  key={session.id}
                  session={session}
                  active={session.id === open}
                  reachable={session.id === reachable}
                  renaming={session.id === renaming}
                  rename={rename}
                  focused={() => setAt(session.id)}
                  done={done}
                />
              ))}
            </ul>
          </Group>
        ))}
        {!text.trim() && <OlderChats of={chats} />}
        {groups.length === 0 && !(chats.hasNextPage && !text.trim()) && (
          <p className="px-2 pt-3 text-meta text-muted">
            {text.trim() ? t("chat.notFound") : t("chat.noChats")}
          </p>
        )}
      </nav>
      <Link
        to="/sources"
        search={{ view: "trash" }}
        onClick={done}
        className="flex min-h-8 pointer-coarse:min-h-11 items-center gap-2 rounded-control px-2 text-meta text-muted no-underline hover:bg-hover hover:text-ink max-md:min-h-11"
      >
        <Trash2 size={14} aria-hidden className="shrink-0 text-faint" />
        {t("chat.trash")}
      </Link>
    </div>
  );
}

/** A group of chats with its name. */
function Group({
  name,
  unfolded,
  unfold,
  children,
}: {
  name: string;
  /** Absent if the group cannot be folded. */
  unfolded?: boolean;
  unfold: (unfolded: boolean) => void;
  children: ReactNode;
}) {
  if (unfolded === undefined) {
    return (
      <section aria-label={name} className="pt-2">
        <h2 className="px-2 pb-1 text-fine text-faint">{name}</h2>
        {children}
      </section>
    );
  }
  return (
    <section aria-label={name} className="pt-2">
      <h2>
        <button
          type="button"
          aria-expanded={unfolded}
          onClick={() => unfold(!unfolded)}
          className="flex min-h-8 pointer-coarse:min-h-11 w-full items-center gap-1 px-2 text-fine text-muted hover:text-ink"
        >
          <ChevronRight
            size={12}
            aria-hidden
            className={classes("shrink-0", unfolded ? "rotate-90" : "rtl:rotate-180")}
          />
          {name}
        </button>
      </h2>
      {unfolded && children}
    </section>
  );
}

/** The listed chats: grouped by age, or search results. */
function useGroups(text: string, open: string | null) {
  const lukasa = useLukasa();
  const now = useNow();
  const { timeZone } = usePreferences();
  const sessions = useSessions();
  const asked = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ["sessions", "search", asked],
    enabled: asked.length > 1,
    queryFn: ({ signal }) => lukasa.sessions.search(asked, { limit: 30, signal }),
  });
  const listed = (sessions.data ?? []).filter(
    (one) => !one.incognito && !one.trashed_at && (one.turns > 0 || one.id === open),
  );
  if (!asked) {
    const groups = groupByAge(listed, now, timeZone).map((group) => ({
      name: t(`chat.age.${group.age}`),
      sessions: group.sessions,
    }));
    return { groups, sessions };
  }
  const titled = listed.filter((one) => plain(shownTitle(one) ?? "").includes(plain(asked)));
  const spoken = (found.data?.data ?? [])
    .map((one) => one.session)
    .filter((one) => !one.incognito && !titled.some((other) => other.id === one.id));
  const both = [...titled, ...spoken];
  const groups = both.length > 0 ? [{ name: t("chat.findings"), sessions: both }] : [];
  return { groups, sessions };
}

function Entry({
  session,
  active,
  reachable,
  renaming,
  rename,
  focused,
  done,
}: {
  session: SessionView;
  active: boolean;
  /** Whether this is the tab stop; arrows move to the others. */
  reachable: boolean;
  renaming: boolean;
  rename: (session: string | null) => void;
  focused: () => void;
  done?: () => void;
}) {
  const place = useRef<HTMLLIElement>(null);
  const seen = useSeen(place);
  const title = useTitle(session, seen);
  const writes = useChatWrites();
  const answering = useAnswering().split("\n").includes(session.id);
  const tabIndex = reachable ? 0 : -1;
  const isArchived = session.state === "archived";
  useEffect(() => {
    if (active) place.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  if (renaming) {
    return (
      <li>
        <Rename
          title={hasHiddenTitle(session) ? "" : session.title || title}
          save={(next) => void writes.rename(session, next)}
          done={() => rename(null)}
        />
      </li>
    );
  }
  return (
    <li
      ref={place}
      className={classes(
        "group flex items-center rounded-control focus-within:bg-hover hover:bg-hover",
        active && "bg-active",
      )}
    >
      <Link
        to="/chat/$session"
        params={{ session: session.id }}
        preload={false}
        data-chat
        tabIndex={tabIndex}
        aria-current={active ? "page" : undefined}
        onFocus={focused}
        onClick={done}
        onKeyDown={(event) => {
          if (event.key === "F2") rename(session.id);
          if (event.key !== "Delete") return;
          neighbourOf(event.currentTarget)?.focus();
          void writes.delete(session, title);
        }}
        className={classes(
          "flex min-h-8 pointer-coarse:min-h-11 min-w-0 flex-1 items-center gap-2 rounded-control px-2 no-underline -outline-offset-2 max-md:min-h-11",
          active ? "font-medium text-ink" : "text-muted group-hover:text-ink",
        )}
      >
        <bdi className="min-w-0 flex-1 truncate">{title}</bdi>
        {answering && <Spinner />}
      </Link>
      <Menu
        trigger={
          <IconButton
            small
            plain
            label={t("chat.more", { title })}
            tabIndex={tabIndex}
            className="me-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 data-[popup-open]:opacity-100 max-md:opacity-100"
          >
            <MoreHorizontal size={15} aria-hidden />
          </IconButton>
        }
      >
        <MenuItem
          icon={<Pencil size={14} aria-hidden />}
          shortcut="F2"
          onSelect={() => rename(session.id)}
        >
          {t("chat.rename")}
        </MenuItem>
        <MenuItem
          icon={
            isArchived ? (
              <ArchiveRestore size={14} aria-hidden />
            ) : (
              <Archive size={14} aria-hidden />
            )
          }
          onSelect={() => void writes.archive(session, title, !isArchived)}
        >
          {t(isArchived ? "chat.unarchive" : "chat.archive")}
        </MenuItem>
        <MenuItem
          icon={<Trash2 size={14} aria-hidden />}
          shortcut="Del"
          onSelect={() => void writes.delete(session, title)}
        >
          {t("chat.delete")}
        </MenuItem>
      </Menu>
    </li>
  );
}

/** The next chat, or the previous one of the last: it gets the focus when this one is deleted. */
function neighbourOf(link: HTMLElement): HTMLElement | undefined {
  const links = [...(link.closest("nav")?.querySelectorAll<HTMLElement>("a[data-chat]") ?? [])];
  const at = links.indexOf(link);
  return links[at + 1] ?? links[at - 1];
}

function Rename({
  title,
  save,
  done,
}: {
  title: string;
  save: (title: string) => void;
  done: () => void;
}) {
  const [text, setText] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // A closing menu restores the focus first.
    const timer = setTimeout(() => field.current?.select(), 0);
    return () => clearTimeout(timer);
  }, []);
  const finish = (keep: boolean) => {
    if (keep && text.trim() && text.trim() !== title) save(text.trim());
    done();
  };
  return (
    <Input
      ref={field}
      dir="auto"
      aria-label={t("chat.renameLabel")}
      maxLength={255}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") {
          event.stopPropagation();
          finish(false);
        }
      }}
    />
  );
}
