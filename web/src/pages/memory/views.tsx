/** The set in the chosen view. */
import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import { lazy, Suspense, useCallback, useContext, useMemo, useState } from "react";
import { usePreferences } from "../../base/preferences.ts";
import { useImports } from "../../data/import-list.ts";
import { useMeaning } from "../../data/past.ts";
import { splitByRelevance } from "../../data/relevance.ts";
import { certaintyOf, type Group } from "../../data/select.ts";
import { SuggestAreas } from "../../features/filing/suggest-areas.tsx";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { DomainNames } from "../../features/memory/labels.ts";
import { Proposals } from "../../features/memory/proposals.tsx";
import { dateFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { NothingHere } from "./empty.tsx";
import { type Change, categoryName } from "./filters.tsx";
import { List } from "./list.tsx";
import { groupsOf, type MemorySet, pointInTimeOf, tabOf, timelineGroups } from "./memory-set.ts";
import { isFiltered, type MemoryParams } from "./params.ts";

// The list is the default view; the others are loaded on demand.
const Board = lazy(async () => ({ default: (await import("./board.tsx")).Board }));
const Shape = lazy(async () => ({ default: (await import("./shape.tsx")).Shape }));
const Markdown = lazy(async () => ({ default: (await import("./markdown.tsx")).Markdown }));

interface MemoryViewsProps {
  set: MemorySet;
  search: MemoryParams;
  change: Change;
  onOpen: OpenMemory;
  onClear: () => void;
}

export function MemoryViews(props: MemoryViewsProps) {
  const { set, search, change, onOpen, onClear } = props;
  const tab = tabOf(search);
  if (search.view === "markdown") {
    return (
      <Suspense fallback={<Skeleton />}>
        <Markdown file={search.file} onChoose={(file) => change({ file })} />
      </Suspense>
    );
  }
  if (search.how === "meaning" && search.text) return <MeaningView {...props} />;
  const isCurrent = tab === "all" || tab === "soft" || tab === "hard";
  const proposals =
    isCurrent && !pointInTimeOf(search) && search.view === undefined ? (
      <>
        <UnusedImports memories={set.all} />
        <Proposals memories={set.proposals} />
      </>
    ) : null;
  if (set.shown.length === 0) {
    return (
      <div className="min-h-0 flex-1 overflow-y-auto border-t">
        {proposals}
        <NothingHere
          tab={tab}
          filtered={isFiltered(search, isCurrent)}
          text={search.text}
          onMeaning={() => change({ how: "meaning" })}
          onClear={onClear}
        />
      </div>
    );
  }
  if (search.view === "board") {
    return (
      <Suspense fallback={<Skeleton />}>
        <Board
          memories={set.shown}
          disputed={set.disputed}
          sorts={canSort(search)}
          onOpen={onOpen}
        />
      </Suspense>
    );
  }
  if (search.view === "shape") {
    return (
      <Suspense fallback={<Skeleton />}>
        <Shape
          memories={set.shown}
          all={set.all}
          matching={set.matching}
          by={search.by}
          past={isCurrent && !search.status && !pointInTimeOf(search)}
          onOpen={onOpen}
        />
      </Suspense>
    );
  }
  if (search.view === "timeline") return <Timeline {...props} />;
  return <Grouped {...props} top={proposals} />;
}

/** Imported memories wait for a decision: on the one import that waits, or where all imports are listed. */
function UnusedImports({ memories }: { memories: readonly MemoryView[] }) {
  const count = useMemo(
    () => memories.filter((one) => one.origin === "import" && certaintyOf(one) === "unused").length,
    [memories],
  );
  const imports = useImports(count > 0);
  if (count === 0) return null;
  const waiting = (imports.data ?? []).filter((one) => one.undecided > 0);
  const only = waiting.length === 1 ? waiting[0] : undefined;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t bg-warn-soft px-4 py-2 sm:px-6">
      {t("memory.unused", { count })}
      <Link
        to={only ? "/reveal" : "/data"}
        search={only && { import: only.id }}
        className={buttonClasses("plain", true)}
      >
        {t("memory.unused.decide")}
      </Link>
    </p>
  );
}

/** Whether memories without an area can be sorted: those of now that are in use. */
function canSort(search: MemoryParams): boolean {
  return !search.status && !pointInTimeOf(search);
}

type WithTop = MemoryViewsProps & { top: React.ReactNode };

function Grouped({ set, search, onOpen, top }: WithTop) {
  const names = useContext(DomainNames);
  const by = search.group ?? "domain";
  const groups = useMemo(() => groupsOf(set.shown, by), [set.shown, by]);
  const { uses, disputed } = set;
  const extraOf = useCallback(
    (memory: MemoryView) => ({
      uses: uses && (uses.get(memory.id) ?? 0),
      disputed: disputed.has(memory.id),
      underArea: by === "domain",
    }),
    [uses, disputed, by],
  );
  const nameOf = useCallback(
    (name: string) => {
      if (by === "category") return categoryName(name);
      return name ? (names.get(name) ?? name) : t("memory.noDomain");
    },
    [by, names],
  );
  const sorts = canSort(search);
  const headingOf = useCallback(
    (name: string) => {
      if (by === "category") return {};
      const unsorted = sorts && !name && groups.find((group) => !group.name);
      return { area: name, action: unsorted && <SuggestAreas memories={unsorted.memories} /> };
    },
    [by, groups, sorts],
  );
  return (
    <List
      label={t("memory.title")}
      groups={groups}
      nameOf={nameOf}
      headingOf={headingOf}
      extraOf={extraOf}
      onOpen={onOpen}
      top={top}
    />
  );
}

/** Up to this number of memories the timeline is grouped by year, above it by month. */
const MAX_BY_YEAR = 60;

function Timeline({ set, search, onOpen }: MemoryViewsProps) {
  const { timeZone } = usePreferences();
  const learned = search.by === "learned";
  const at = useCallback(
    (memory: MemoryView) => (learned ? memory.created_at : memory.valid_from),
    [learned],
  );
  const groups = useMemo(() => {
    const words = dateFormat(locale(), {
      month: set.shown.length > MAX_BY_YEAR ? "long" : undefined,
      year: "numeric",
      timeZone: timeZone ?? undefined,
    });
    return timelineGroups(set.shown, at, (when) => words.format(new Date(when)));
  }, [set.shown, at, timeZone]);
  const { disputed } = set;
  const extraOf = useCallback(
    (memory: MemoryView) => ({ when: at(memory), disputed: disputed.has(memory.id) }),
    [at, disputed],
  );
  return (
    <List
      label={t("memory.view.timeline")}
      groups={groups}
      nameOf={itself}
      extraOf={extraOf}
      onOpen={onOpen}
      rail
    />
  );
}

const itself = (name: string) => name;
const nameless = () => "";

/** Search by meaning: what a chat with this query would receive, ranked and with reasons. */
function MeaningView({ set, search, onOpen, onClear }: MemoryViewsProps) {
  const [weak, setWeak] = useState(false);
  const found = useMeaning(search.text ?? "", pointInTimeOf(search));
  const whys = useMemo(
    () => new Map(found.data?.memories.map((one) => [one.memory.id, one.why])),
    [found.data],
  );
  const groups = useMemo<Group[]>(() => {
    const fits = new Set(set.shown.map((memory) => memory.id));
    const there = (found.data?.memories ?? []).filter(({ memory }) => fits.has(memory.id));
    return splitByRelevance(there).map((some) => ({
      name: "found",
      memories: some.map(({ memory }) => set.byId.get(memory.id) ?? memory),
    }));
  }, [found.data, set.shown, set.byId]);
  const { disputed } = set;
  const extraOf = useCallback(
    (memory: MemoryView) => ({ why: whys.get(memory.id), disputed: disputed.has(memory.id) }),
    [whys, disputed],
  );
  if (found.error) {
    return (
      <div className="px-4 sm:px-6">
        <ProblemCard error={found.error} retry={() => void found.refetch()} />
      </div>
    );
  }
  if (!found.data) return <Skeleton />;
  const { model } = found.data;
  const [good, weaker] = groups;
  const shown = groups.slice(0, weak ? 2 : 1).filter((group) => group.memories.length > 0);
  const more = !weak && weaker && weaker.memories.length > 0 && (
    <Button small onClick={() => setWeak(true)}>
      {t("memory.meaning.weaker", { count: weaker.memories.length })}
    </Button>
  );
  return (
    <>
      <output className="block px-4 pb-2 text-meta text-muted sm:px-6">
        {t("memory.meaning.counts", { count: good?.memories.length ?? 0 })}
        {!model && ` ${t("memory.meaning.wordsOnly")}`}
      </output>
      {shown.length === 0 ? (
        <NothingHere tab={tabOf(search)} filtered text={search.text} onClear={onClear}>
          {more}
        </NothingHere>
      ) : (
        <List
          label={t("memory.meaning.title")}
          groups={shown}
          bottom={more && <div className="px-4 py-3 sm:px-6">{more}</div>}
          nameOf={nameless}
          extraOf={extraOf}
          onOpen={onOpen}
        />
      )}
    </>
  );
}
