/** Command palette (Ctrl/Cmd+K): opens a page or a chat, runs an active shortcut, finds a memory, or saves one. */

import { Dialog as Base } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CornerDownLeft, MessagesSquare, Plus, Search } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useState,
} from "react";
import { type Shortcut, useActiveShortcuts, useShortcuts } from "../base/shortcuts.ts";
import { useLukasa, useSignIn } from "../base/sign-in.ts";
import { shownTitle } from "../data/hidden.ts";
import { splitByRelevance } from "../data/relevance.ts";
import { useSaveInArea } from "../data/save-in-area.ts";
import { plain, wordsOf } from "../data/select.ts";
import { useSessions } from "../data/sessions.ts";
import { shownContent } from "../data/shown-content.ts";
import { Highlighted } from "../features/memory/highlight.tsx";
import { domainName } from "../i18n/domains.ts";
import { t } from "../i18n/index.ts";
import { classes } from "../ui/classes.ts";
import { Kbd } from "../ui/kbd.tsx";
import { pagesFor } from "./pages.ts";

interface Entry {
  id: string;
  section: string;
  text: string;
  icon?: ReactNode;
  /** At the end of the line, such as the area. */
  note?: string;
  keys?: string;
  run: () => void;
}

const SAVE = "save";
const NO_WORDS: readonly string[] = [];
const MAX_CHATS = 4;
/** Shorter texts are not offered to be saved. */
const MIN_SAVED_LENGTH = 3;

let openPalette: () => void = () => {};

/** Opens the palette from a button. */
export function showPalette(): void {
  openPalette();
}

export function Palette() {
  const [open, setOpen] = useState(false);
  openPalette = () => setOpen(true);
  useShortcuts(t("shell.keys.everywhere"), [
    { keys: "mod+k", label: t("shell.keys.palette"), run: () => setOpen(true), quiet: true },
  ]);
  return (
    <Base.Root open={open} onOpenChange={setOpen}>
      <Base.Portal>
        <Base.Backdrop className="scrim fixed inset-0 z-40" />
        <Base.Popup
          aria-label={t("shell.search")}
          className="floating fixed inset-x-0 top-[12vh] z-40 mx-auto flex max-h-[70vh] w-[calc(100vw-2rem)] max-w-xl flex-col overflow-hidden rounded-card border bg-surface shadow-raised outline-none"
        >
          <PaletteBody close={() => setOpen(false)} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function PaletteBody({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const { entries, searching } = useEntries(text);
  const words = useMemo(() => wordsOf(text), [text]);
  const chosen = Math.min(at, Math.max(0, entries.length - 1));
  useEffect(() => {
    document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [list, chosen]);
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    // The dialog first returns the focus to the page; the command may move it.
    setTimeout(entry.run, 0);
  };
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(entries[chosen]);
    }
  };
  const sections = [...new Set(entries.map((entry) => entry.section))];
  return (
    <>
      <div className="flex items-center gap-2.5 border-b px-4">
        <Search size={16} aria-hidden className="shrink-0 text-faint" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={entries.length > 0 ? `${list}-${chosen}` : undefined}
          aria-label={t("shell.palette.placeholder")}
          placeholder={t("shell.palette.placeholder")}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={move}
          className="h-12 w-full bg-transparent text-lead outline-none placeholder:text-faint"
        />
      </div>
      <div
        id={list}
        role="listbox"
        aria-label={t("shell.search")}
        className="min-h-0 overflow-y-auto p-1.5"
      >
        {sections.map((section) => (
          // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
          <div key={section} role="group" aria-label={section}>
            <div aria-hidden className="px-2.5 pt-2 pb-1 text-fine text-faint">
              {section}
            </div>
            {entries.map((entry, index) =>
              entry.section === section ? (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
                <div
                  key={entry.id}
                  id={`${list}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === chosen}
                  onPointerMove={() => setAt(index)}
                  onClick={() => run(entry)}
                  className={classes(
                    "flex min-h-9 pointer-coarse:min-h-11 cursor-default items-center gap-2.5 rounded-control px-2.5",
                    index === chosen && "bg-hover",
                  )}
                >
                  {entry.icon && <span className="text-muted">{entry.icon}</span>}
                  <bdi className="min-w-0 flex-1 truncate">
                    <Highlighted text={entry.text} words={entry.id === SAVE ? NO_WORDS : words} />
                  </bdi>
                  {entry.note && (
                    <bdi className="max-w-40 shrink-0 truncate text-fine text-muted">
                      {entry.note}
                    </bdi>
                  )}
                  {entry.keys && <Kbd keys={entry.keys} />}
                  {index === chosen && !entry.keys && (
                    <CornerDownLeft size={13} aria-hidden className="text-faint" />
                  )}
                </div>
              ) : null,
            )}
          </div>
        ))}
      </div>
      <output className={entries.length === 0 ? "p-6 text-center text-muted" : "sr-only"}>
        {entries.length === 0
          ? t(searching ? "shell.palette.searching" : "shell.palette.none")
          : ""}
      </output>
    </>
  );
}

function useEntries(text: string): { entries: Entry[]; searching: boolean } {
  const signIn = useSignIn();
  const lukasa = useLukasa();
  const navigate = useNavigate();
  const scopes = useActiveShortcuts();
  const asked = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ["palette", asked],
    enabled: asked.length > 1,
    staleTime: 10_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => lukasa.memories.recall({ query: asked, limit: 8 }, { signal }),
  });
  const chats = useSessions();
  const saveMemory = useSaveInArea();
  const wanted = wordsOf(text);
  const fits = (words: string) => {
    const there = plain(words);
    return wanted.every((word) => there.includes(word));
  };
  const pages: Entry[] = pagesFor(signIn).map(({ to, name, icon: Icon, letter }) => ({
    id: to,
    section: t("shell.palette.go"),
    text: t(name),
    icon: <Icon size={15} aria-hidden />,
    keys: `g ${letter}`,
    run: () => void navigate({ to }),
  }));
  const listed = scopes.flatMap((scope) => scope.shortcuts).filter((one) => !one.quiet);
  const command = (scope: string) => (one: Shortcut) => ({
    id: `key ${one.keys}`,
    section: scope,
    text: one.label,
    keys: one.keys,
    run: one.run,
  });
  const first = listed.filter((one) => one.first).map(command(t("shell.palette.here")));
  const commands = listed.filter((one) => !one.first).map(command(t("shell.palette.commands")));
  // Weak matches are left to the Memory page, which has room to say why they are there.
  const [good] = splitByRelevance(asked.length > 1 ? (found.data?.memories ?? []) : []);
  const memories: Entry[] = good.map(({ memory }) => ({
    id: memory.id,
    section: t("shell.palette.memories"),
    text: shownContent(memory),
    note: memory.domain ? domainName(memory.domain) : undefined,
    run: () => void navigate({ to: "/memory/$id", params: { id: memory.id } }),
  }));
  const talks: Entry[] = (wanted.length > 0 ? (chats.data ?? []) : [])
    .map((chat) => ({ id: chat.id, title: shownTitle(chat) }))
    .filter(({ title }) => title && fits(title))
    .slice(0, MAX_CHATS)
    .map(({ id, title }) => ({
      id: `chat ${id}`,
      section: t("shell.palette.chats"),
      text: title ?? "",
      icon: <MessagesSquare size={15} aria-hidden />,
      run: () => void navigate({ to: "/chat/$session", params: { session: id } }),
    }));
  const words = text.trim();
  const save: Entry[] =
    // Only below what was found: Enter would save what the user is looking for.
    words.length < MIN_SAVED_LENGTH || found.isFetching || asked !== words
      ? []
      : [
          {
            id: SAVE,
            section: t("shell.palette.new"),
            text: t("shell.palette.add", { text: words }),
            icon: <Plus size={15} aria-hidden />,
            run: () => void saveMemory(words),
          },
        ];
  const named = [...first, ...pages, ...commands].filter((entry) => fits(entry.text));
  return { entries: [...named, ...memories, ...talks, ...save], searching: found.isFetching };
}
