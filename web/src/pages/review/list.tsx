/** Review as a list: chosen in ranges and answered together, with one undo. */

import { useNavigate } from "@tanstack/react-router";
import { Check, X } from "lucide-react";
import type { MemoryView, ReviewItem } from "lukasa-client";
import { useMemo, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useMemories } from "../../data/memories.ts";
import { useReview } from "../../data/review.ts";
import { shownContent } from "../../data/shown-content.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useBatchAnswers } from "./batch-answers.ts";
import {
  areasOf,
  entriesOf,
  kindOf,
  LIST_KINDS,
  NOTHING_SELECTED,
  type Selection,
} from "./choice.ts";
import { pairsOf } from "./contradictions.ts";
import type { Kind } from "./deck.ts";
import { PairList } from "./pair-list.tsx";
import { Rows } from "./rows.tsx";
import { SelectionHeader } from "./selection-header.tsx";

/** What is listed: suggestions and guesses, or contradictions. */
export function ReviewList({ kind }: { kind?: Kind }) {
  const review = useReview();
  const pairs = pairsOf(review.data ?? NO_ITEMS);
  const navigate = useNavigate();
  const show = (wanted?: Kind) =>
    void navigate({ to: "/review", search: { kind: wanted, view: "list" }, replace: true });
  const contradictions = kind === "contradiction";
  return (
    <div className="flex flex-col gap-3">
      {(contradictions || pairs.length > 0) && (
        <fieldset className="-m-1 flex flex-wrap gap-1.5 p-1">
          <legend className="sr-only">{t("review.kinds")}</legend>
          <Chip pressed={!contradictions} onPress={() => show()}>
            {t("review.list.label")}
          </Chip>
          <Chip pressed={contradictions} onPress={() => show("contradiction")}>
            {t("review.kind.contradiction")}
            <span className="tabular-nums">{pairs.length}</span>
          </Chip>
        </fieldset>
      )}
      {!contradictions && <MemoryList kind={kind} />}
      {contradictions && (review.data ? <PairList pairs={pairs} /> : <Skeleton />)}
    </div>
  );
}

const NO_ITEMS: readonly ReviewItem[] = [];
const idOf = (memory: MemoryView) => memory.id;

function MemoryList({ kind }: { kind?: Kind }) {
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
        <SelectionHeader
          chosen={chosen.length}
          shown={shown.length}
          progress={answers.progress}
          onSelectAll={selectAll}
          onDeselect={() => setSelection(NOTHING_SELECTED)}
        />
        <Rows
          label={t("review.list.label")}
          entries={shown}
          idOf={idOf}
          selection={selection}
          onSelect={setSelection}
        >
          {(memory) => <Entry memory={memory} />}
        </Rows>
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

function Entry({ memory }: { memory: MemoryView }) {
  return (
    <span className="flex min-w-0 flex-1 flex-col gap-x-3 gap-y-0.5 sm:flex-row sm:items-center">
      <span dir="auto" className="line-clamp-2 min-w-0 flex-1">
        {shownContent(memory)}
      </span>
      <span className="flex shrink-0 gap-1.5">
        {memory.domain && <Badge>{domainName(memory.domain)}</Badge>}
        {kindOf(memory) === "candidate" && <Badge>{t("review.one.candidate")}</Badge>}
      </span>
    </span>
  );
}
