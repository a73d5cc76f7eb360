/** Review as a list: suggestions and guesses, chosen in ranges and answered together, with one undo. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { Check, X } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useMemories } from "../../data/memories.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { classes } from "../../ui/classes.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useBatchAnswers } from "./batch-answers.ts";
import {
  areasOf,
  entriesOf,
  extend,
  kindOf,
  LIST_KINDS,
  NOTHING_SELECTED,
  type Selection,
  toggle,
} from "./choice.ts";
import type { Kind } from "./deck.ts";

const ROW_HEIGHT_PX = 49;

export function ReviewList({ kind }: { kind?: Kind }) {
  const { all, complete, error, refetch } = useMemories();
  const [chosenArea, setArea] = useState<string>();
  const [selection, setSelection] = useState<Selection>(NOTHING_SELECTED);
  const answers = useBatchAnswers();
  const listKind = LIST_KINDS.find((one) => one === kind);
  const entries = useMemo(() => entriesOf(all, listKind), [all, listKind]);
  const areas = useMemo(() => areasOf(entries), [entries]);
  // After the last entry of an area the other ones are shown.
  const area = areas.some(([name]) => name === chosenArea) ? chosenArea : undefined;
  const shown = useMemo(() => entriesOf(entries, listKind, area), [entries, listKind, area]);
  const chosen = shown.filter((memory) => selection.ids.has(memory.id));
  const answer = async (verdict: "keep" | "decline") => {
    if (chosen.length === 0) return;
    setSelection(NOTHING_SELECTED);
    await answers.answer(chosen, verdict);
  };
  const selectAll = () => setSelection({ ids: new Set(shown.map((memory) => memory.id)) });
  useShortcuts(t("review.title"), [
    { keys: "mod+a", label: t("review.list.all", { count: shown.length }), run: selectAll },
    { keys: "ArrowRight", label: t("review.list.keep"), run: () => void answer("keep") },
    { keys: "ArrowLeft", label: t("review.list.decline"), run: () => void answer("decline") },
  ]);
  if (error) return <ProblemCard error={error} retry={() => void refetch()} />;
  if (!complete) return <Skeleton />;
  if (entries.length === 0) return <p className="text-muted">{t("review.list.none")}</p>;
  return (
    <div className="flex flex-col gap-3">
      {areas.length > 1 && (
        <fieldset className="-m-1 flex gap-1.5 overflow-x-auto p-1 *:shrink-0 *:whitespace-nowrap sm:flex-wrap">
          <legend className="sr-only">{t("review.list.areas")}</legend>
          {areas.map(([name, count]) => (
            <Chip
              key={name}
              pressed={area === name}
              onPress={() => {
                setArea(area === name ? undefined : name);
                setSelection(NOTHING_SELECTED);
              }}
            >
              <bdi>{name ? domainName(name) : t("memory.noDomain")}</bdi>
              <span className="tabular-nums">{count}</span>
            </Chip>
          ))}
        </fieldset>
      )}
      <section className="flex flex-col overflow-hidden rounded-card border bg-surface">
        <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
          <output className="min-w-0 flex-1 text-meta text-muted tabular-nums">
            {answers.progress
              ? t("review.list.progress", answers.progress)
              : t("memory.nSelected", { count: chosen.length })}
          </output>
          {chosen.length > 0 ? (
            <Button small look="quiet" onClick={() => setSelection(NOTHING_SELECTED)}>
              {t("memory.deselect")}
            </Button>
          ) : (
            <Button small look="quiet" onClick={selectAll}>
              {t("review.list.all", { count: shown.length })}
            </Button>
          )}
        </header>
        <Rows entries={shown} selection={selection} onSelect={setSelection} />
        <footer className="flex flex-wrap justify-between gap-2 border-t px-4 py-2">
          <Button
            disabled={chosen.length === 0}
            onClick={() => void answer("decline")}
            className="max-sm:flex-1"
          >
            <X size={15} aria-hidden />
            {t("review.list.declineCount", { count: chosen.length })}
          </Button>
          <Button
            look="primary"
            disabled={chosen.length === 0}
            onClick={() => void answer("keep")}
            className="max-sm:flex-1"
          >
            <Check size={15} aria-hidden />
            {t("review.list.keepCount", { count: chosen.length })}
          </Button>
        </footer>
      </section>
    </div>
  );
}

/** The rows that are visible; thousands more are only counted. One of them is the tab stop. */
function Rows({
  entries,
  selection,
  onSelect,
}: {
  entries: readonly MemoryView[];
  selection: Selection;
  onSelect: (selection: Selection) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const current = Math.min(at, entries.length - 1);
  const order = useMemo(() => entries.map((memory) => memory.id), [entries]);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    getItemKey: (index) => order[index] ?? index,
    overscan: 10,
  });
  const go = (to: number, range: boolean) => {
    const next = Math.max(0, Math.min(entries.length - 1, to));
    const id = order[next];
    if (id === undefined) return;
    setAt(next);
    virtual.scrollToIndex(next, { align: "auto" });
    if (range) onSelect(extend({ anchor: order[current], ...selection }, id, order));
    // The row may be rendered only after the list has scrolled to it.
    requestAnimationFrame(() =>
      scroller.current
        ?.querySelector<HTMLElement>(`[data-entry="${id}"]`)
        ?.focus({ preventScroll: true }),
    );
  };
  const press = (event: KeyboardEvent) => {
    const id = order[current];
    const last = entries.length - 1;
    const to = { ArrowDown: current + 1, j: current + 1, ArrowUp: current - 1, k: current - 1 };
    const ends = { Home: 0, End: last };
    if (event.key in to) go(to[event.key as keyof typeof to], event.shiftKey);
    else if (event.key in ends) go(ends[event.key as keyof typeof ends], event.shiftKey);
    else if (event.key === "x" && id !== undefined) onSelect(toggle(selection, id));
    else return;
    event.preventDefault();
  };
  const click = (event: MouseEvent, index: number, id: string) => {
    setAt(index);
    onSelect(event.shiftKey ? extend(selection, id, order) : toggle(selection, id));
  };
  return (
    <div
      ref={scroller}
      className="max-h-[calc(100dvh-17rem)] min-h-48 overflow-y-auto [overflow-anchor:none]"
    >
      <ul
        aria-label={t("review.list.label")}
        style={{ height: virtual.getTotalSize() }}
        className="relative"
      >
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const memory = entries[index];
          if (!memory) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={entries.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
              className="absolute inset-x-0 top-0 border-b"
            >
              <Entry
                memory={memory}
                selected={selection.ids.has(memory.id)}
                tabbable={index === current}
                onKeyDown={press}
                onClick={(event) => click(event, index, memory.id)}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Entry({
  memory,
  selected,
  tabbable,
  onKeyDown,
  onClick,
}: {
  memory: MemoryView;
  selected: boolean;
  tabbable: boolean;
  onKeyDown: (event: KeyboardEvent) => void;
  onClick: (event: MouseEvent) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the whole row is the checkbox
    <button
      type="button"
      role="checkbox"
      aria-checked={selected}
      data-entry={memory.id}
      tabIndex={tabbable ? 0 : -1}
      onKeyDown={onKeyDown}
      onClick={onClick}
      className={classes(
        "flex min-h-12 w-full items-center gap-3 px-4 py-1.5 text-start -outline-offset-2 select-none",
        selected ? "bg-accent-soft" : "hover:bg-hover/70",
      )}
    >
      <span
        aria-hidden
        className={classes(
          "flex size-4 shrink-0 items-center justify-center rounded border",
          selected ? "border-transparent bg-accent text-on-accent" : "border-strong-line",
        )}
      >
        {selected && <Check size={12} />}
      </span>
      <span className="flex min-w-0 flex-1 flex-col gap-x-3 gap-y-0.5 sm:flex-row sm:items-center">
        <span dir="auto" className="line-clamp-2 min-w-0 flex-1">
          {memory.content}
        </span>
        <span className="flex shrink-0 gap-1.5">
          {memory.domain && <Badge>{domainName(memory.domain)}</Badge>}
          {kindOf(memory) === "guess" && <Badge>{t("review.one.guess")}</Badge>}
        </span>
      </span>
    </button>
  );
}
