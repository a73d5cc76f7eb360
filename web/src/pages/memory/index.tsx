/** Memory page: all memories as one filtered set with several views. */

import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { Eye, History, Plus } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import {
  lazy,
  Suspense,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { wordsOf } from "../../data/select.ts";
import {
  MemoryActionsContext,
  useActionList,
  useAvailableActions,
} from "../../features/memory/actions.ts";
import { SearchWords } from "../../features/memory/highlight.tsx";
import { DomainNames, useDomainNames } from "../../features/memory/labels.ts";
import { PastBanner } from "../../features/memory/past-banner.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Page } from "../../ui/page.tsx";
import { isPhone } from "../../ui/phone.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Composer } from "./composer.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { SearchBox } from "./filters.tsx";
import { Marks, MarksContext } from "./marks.ts";
import { pointInTimeOf, TABS, type Tab, tabOf, useMemorySet } from "./memory-set.ts";
import { type MemoryParams, VIEWS } from "./params.ts";
import { preloadRowEdit } from "./row-edit.tsx";
import { runOnCurrent } from "./run-action.ts";
import { ViewSwitch } from "./view-switch.tsx";
import { MemoryViews } from "./views.tsx";

const route = getRouteApi("/memory");
// Rarely used parts are loaded on demand.
const SidePanel = lazy(async () => ({ default: (await import("./panel.tsx")).SidePanel }));
const PromptPane = lazy(async () => ({ default: (await import("./prompt-pane.tsx")).PromptPane }));
const FirstVisit = lazy(async () => ({ default: (await import("./first-visit.tsx")).FirstVisit }));
const SelectionBar = lazy(async () => ({
  default: (await import("./selection.tsx")).SelectionBar,
}));
const NextStep = lazy(async () => ({ default: (await import("./next-step.tsx")).NextStep }));
const PauseButton = lazy(async () => ({
  default: (await import("../../features/pause/index.tsx")).PauseButton,
}));
const TimeSliders = lazy(async () => ({ default: (await import("./times.tsx")).TimeSliders }));
/** With more memories than this the user has found the way. */
const MAX_FIRST_MEMORIES = 20;
/** Debounce of the search text in the address. */
const TYPING_DEBOUNCE_MS = 400;
/** The first screen is shown by then. */
const PRELOAD_DELAY_MS = 500;

export default function MemoryPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/memory" });
  const router = useRouter();
  const [marks] = useState(() => new Marks());
  const [typed, setTyped] = useState(search.text ?? "");
  const [adding, setAdding] = useState(false);
  const [looking, setLooking] = useState(false);
  const [starting, setStarting] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const text = useDeferredValue(typed);
  const set = useMemorySet(search, text);
  // By meaning, a row says itself which words matched.
  const isMeaning = search.how === "meaning";
  const words = useMemo(() => (isMeaning ? [] : wordsOf(text)), [isMeaning, text]);
  const names = useDomainNames();
  const tab = tabOf(search);
  const view = search.view ?? "list";
  // The Markdown view always shows the current state, unfiltered.
  const files = view === "markdown";
  const then = files ? undefined : pointInTimeOf(search);

  const change = useCallback(
    (part: Partial<MemoryParams>, replace = true) =>
      void navigate({ search: (was) => ({ ...was, ...part }), replace }),
    [navigate],
  );
  const open = useCallback(
    (memory: MemoryView, part?: string) => {
      // On phones it is a sheet over the list, and going back closes it.
      if (isPhone()) return change({ one: memory.id, tab: part }, false);
      if (matchMedia("(width >= 64rem)").matches) return change({ one: memory.id, tab: part });
      const { as_of, known_at } = router.state.location.search as MemoryParams;
      void navigate({
        to: "/memory/$id",
        params: { id: memory.id },
        search: { tab: part, as_of, known_at },
      });
    },
    [change, navigate, router],
  );
  const showPart = useCallback((tab: string | undefined) => change({ tab }), [change]);
  const byId = useRef(set.byId);
  byId.current = set.byId;
  const list = useActionList(
    useCallback(
      (id: string) => {
        const memory = isPhone() && byId.current.get(id);
        if (memory) open(memory, "edit");
        else marks.edit(id);
      },
      [marks, open],
    ),
    useCallback((id: string) => marks.toggle(id), [marks]),
  );
  const actions = useAvailableActions(list, then !== undefined);

  // Sync the text with the address in both directions: typing updates it, and going back restores it.
  useEffect(() => {
    const rest = setTimeout(() => {
      if (typed !== (search.text ?? "")) change({ text: typed || undefined });
    }, TYPING_DEBOUNCE_MS);
    return () => clearTimeout(rest);
  }, [typed, search.text, change]);
  const lastText = useRef(search.text);
  useEffect(() => {
    if (search.text !== lastText.current && document.activeElement !== box.current)
      setTyped(search.text ?? "");
    lastText.current = search.text;
  }, [search.text]);

  useEffect(() => marks.show(search.one), [marks, search.one]);
  useEffect(() => {
    const timer = setTimeout(preloadRowEdit, PRELOAD_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);

  const clear = () => {
    setTyped("");
    void navigate({ search: ({ view: stays, group }) => ({ view: stays, group }) });
  };
  const back = () => {
    setLooking(false);
    change({ as_of: undefined, known_at: undefined });
  };
  const togglePrompt = () =>
    change({ prompt: search.prompt ? undefined : true, one: undefined, tab: undefined });
  const closePrompt = () => {
    change({ prompt: undefined });
    marks.go(marks.current);
  };
  const on = (name: string) => runOnCurrent(name, marks, set.byId, actions, open);
  useShortcuts(t("memory.keys"), [
    { keys: "j", label: t("memory.key.down"), run: () => marks.move(1), quiet: true },
    { keys: "k", label: t("memory.key.up"), run: () => marks.move(-1), quiet: true },
    {
      keys: "Enter",
      label: t("memory.key.open"),
      quiet: true,
      run: () => {
        const memory = marks.current && set.byId.get(marks.current);
        if (memory) open(memory);
      },
    },
    ...list.map((one) => ({
      keys: one.key,
      label: one.label,
      run: () => on(one.name),
      quiet: true,
    })),
    { keys: "n", label: t("memory.act.add"), run: () => setAdding(true) },
    { keys: "/", label: t("memory.filter"), run: () => box.current?.focus() },
    { keys: "t", label: t("memory.past.title"), run: () => (then ? back() : setLooking(!looking)) },
    { keys: "p", label: t("memory.prompt.title"), run: () => togglePrompt() },
    ...VIEWS.map((one) => ({
      keys: `v ${one[0]}`,
      label: t("memory.key.view", { view: t(`memory.view.${one}`) }),
      run: () => change({ view: one }, false),
    })),
    {
      keys: "Escape",
      label: t("memory.key.close"),
      quiet: true,
      run: () => {
        if (marks.selected.size > 0) marks.select([]);
        else if (search.one) {
          change({ one: undefined, tab: undefined });
          marks.go(marks.current);
        } else if (search.prompt) closePrompt();
      },
    },
  ]);

  const never = starting || (set.complete && set.all.length === 0 && !then);
  const note = t(set.complete ? "memory.count" : "memory.loading", { count: set.shown.length });
  return (
    <MarksContext value={marks}>
      <MemoryActionsContext value={actions}>
        <DomainNames value={names}>
          <SearchWords value={words}>
            <Page
              title={t("memory.title")}
              note={never || set.error ? undefined : <span className="max-sm:sr-only">{note}</span>}
              layout={never ? "reading" : "wide"}
              flush
              actions={
                !never && (
                  <>
                    <Suspense>
                      <PauseButton />
                    </Suspense>
                    <ViewSwitch view={view} onChange={(next) => change({ view: next }, false)} />
                    <IconButton
                      label={t("memory.past.title")}
                      shortcut="t"
                      disabled={files}
                      aria-pressed={looking || then !== undefined}
                      onClick={() => (then ? back() : setLooking(!looking))}
                    >
                      <History size={16} aria-hidden />
                    </IconButton>
                    <IconButton
                      label={t("memory.prompt.title")}
                      shortcut="p"
                      aria-pressed={search.prompt === true}
                      onClick={togglePrompt}
                      className={search.prompt && "bg-active"}
                    >
                      <Eye size={16} aria-hidden />
                    </IconButton>
                    <Button small onClick={() => setAdding(true)}>
                      <Plus size={14} aria-hidden />
                      <span className="max-sm:sr-only">{t("memory.act.add")}</span>
                    </Button>
                  </>
                )
              }
            >
              {adding && <Composer onDone={() => setAdding(false)} />}
              {set.error ? (
                <div className="px-4 sm:px-6">
                  <ProblemCard error={set.error} retry={set.refetch} />
                </div>
              ) : never ? (
                <div className="overflow-y-auto">
                  <Suspense>
                    <FirstVisit onWork={setStarting} />
                  </Suspense>
                </div>
              ) : !set.complete && set.all.length === 0 ? (
                <Skeleton rows={12} />
              ) : (
                <Tabs
                  flush
                  label={t("memory.tabs")}
                  value={tab}
                  tabs={TABS.map((one) => ({
                    value: one,
                    label: t(`memory.tab.${one}`),
                    // Two tabs are empty for most users; a zero says nothing there.
                    count: set.counts[one] || undefined,
                  }))}
                  onChange={(next) =>
                    change({ ...searchOf(next), view: files ? undefined : search.view })
                  }
                >
                  {set.complete && !then && set.all.length <= MAX_FIRST_MEMORIES && (
                    <Suspense>
                      <NextStep />
                    </Suspense>
                  )}
                  {(looking || then) && !files && (
                    <Suspense>
                      <TimeSliders all={set.all} then={then} onThen={change} onClose={back} />
                    </Suspense>
                  )}
                  {then && <PastBanner then={then} onBack={back} />}
                  {!files && (
                    <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 px-4 py-2 sm:px-6">
                      <SearchBox
                        box={box}
                        text={typed}
                        onText={(next) => {
                          setTyped(next);
                          if (!next) change({ how: undefined, text: undefined });
                        }}
                        meaning={search.how === "meaning"}
                        onMeaning={(by) =>
                          change({ how: by ? "meaning" : undefined, text: typed || undefined })
                        }
                        onLeave={() => marks.go(marks.current ?? marks.order[0])}
                      />
                      <FilterBar
                        all={set.all}
                        search={search}
                        change={change}
                        shown={set.shown.length}
                      />
                    </div>
                  )}
                  <Suspense>
                    <SelectionBar byId={set.byId} />
                  </Suspense>
                  <div className="flex min-h-0 flex-1">
                    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
                      <MemoryViews
                        set={set}
                        search={search}
                        change={change}
                        onOpen={open}
                        onClear={clear}
                      />
                    </div>
                    {search.prompt && !search.one && !then && (
                      <Suspense>
                        <PromptPane byId={set.byId} onOpen={open} onClose={closePrompt} />
                      </Suspense>
                    )}
                    {search.one && (
                      <Suspense>
                        <SidePanel
                          id={search.one}
                          then={then}
                          part={search.tab}
                          onPart={showPart}
                          onClose={() => {
                            change({ one: undefined, tab: undefined });
                            marks.go(marks.current);
                          }}
                        />
                      </Suspense>
                    )}
                  </div>
                </Tabs>
              )}
            </Page>
          </SearchWords>
        </DomainNames>
      </MemoryActionsContext>
    </MarksContext>
  );
}

/** The search parameters of a tab. */
function searchOf(tab: Tab): Partial<MemoryParams> {
  if (tab === "forgotten" || tab === "trashed") return { status: tab, force: undefined };
  return { status: undefined, force: tab === "all" ? undefined : tab };
}
