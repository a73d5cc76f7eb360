/** Contradictions as a list: chosen in ranges and answered together, with one undo. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { REVIEW } from "../../data/review.ts";
import { shownContent } from "../../data/shown-content.ts";
import { useBatchWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ChangedOn } from "./changed-on.tsx";
import { NOTHING_SELECTED, type Selection } from "./choice.ts";
import { independent, type Pair, type PairVerdict, pairId, pairRuns } from "./contradictions.ts";
import { Rows } from "./rows.tsx";
import { SelectionHeader } from "./selection-header.tsx";

const CHOICES = [
  ["first", "1"],
  ["second", "2"],
  ["both", "3"],
] as const;

export function PairList({ pairs }: { pairs: readonly Pair[] }) {
  const [selection, setSelection] = useState<Selection>(NOTHING_SELECTED);
  const [dating, setDating] = useState(false);
  const { sent, answer } = usePairAnswers();
  const shown = pairs.filter((pair) => !sent.has(pairId(pair)));
  const chosen = shown.filter((pair) => selection.ids.has(pairId(pair)));
  const choose = (verdict: PairVerdict, on?: string) => {
    const answered = independent(chosen);
    if (answered.length === 0) return;
    // Those that wait for another answer stay selected.
    const rest = chosen.filter((pair) => !answered.includes(pair));
    setSelection({ ids: new Set(rest.map(pairId)) });
    void answer(answered, verdict, on);
  };
  const selectAll = () => setSelection({ ids: new Set(shown.map(pairId)) });
  useShortcuts(t("review.title"), [
    { keys: "mod+a", label: t("review.list.all", { count: shown.length }), run: selectAll },
    ...CHOICES.map(([verdict, keys]) => ({
      keys,
      label: t(`review.pairs.${verdict}`),
      run: () => choose(verdict),
    })),
    {
      keys: "4",
      label: t("review.side.changed"),
      run: () => chosen.length > 0 && setDating(true),
    },
  ]);
  if (shown.length === 0) return <p className="text-muted">{t("review.pairs.none")}</p>;
  return (
    <section className="flex flex-col overflow-hidden rounded-card border bg-surface">
      <SelectionHeader
        chosen={chosen.length}
        shown={shown.length}
        onSelectAll={selectAll}
        onDeselect={() => setSelection(NOTHING_SELECTED)}
      />
      <Rows
        label={t("review.kind.contradiction")}
        entries={shown}
        idOf={pairId}
        selection={selection}
        onSelect={setSelection}
      >
        {({ memory, against }) => (
          <span className="flex min-w-0 flex-1 flex-col gap-0.5 py-1">
            <Side name={t("review.side.standing")} words={shownContent(memory)} />
            <Side name={t("review.side.against")} words={shownContent(against)} />
          </span>
        )}
      </Rows>
      <footer className="flex flex-wrap gap-2 border-t px-4 py-2">
        {CHOICES.map(([verdict, keys]) => (
          <Button
            key={verdict}
            disabled={chosen.length === 0}
            onClick={() => choose(verdict)}
            className="max-sm:h-11 max-sm:w-full"
          >
            {t(`review.pairs.${verdict}`)}
            <Kbd keys={keys} />
          </Button>
        ))}
        <ChangedOn
          text={t("review.pairs.changed")}
          disabled={chosen.length === 0}
          open={dating}
          onOpen={setDating}
          onDay={(on) => choose("changed", on)}
        />
      </footer>
    </section>
  );
}

function Side({ name, words }: { name: string; words: string }) {
  return (
    <span className="flex gap-x-3 max-sm:flex-col">
      <span className="shrink-0 text-meta text-muted sm:w-24">{name}</span>
      <span dir="auto" className="line-clamp-2 min-w-0 flex-1">
        {words}
      </span>
    </span>
  );
}

/** Answers to many contradictions, with one toast and one undo. */
function usePairAnswers() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useBatchWrite();
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set());
  const answer = async (pairs: readonly Pair[], verdict: PairVerdict, on?: string) => {
    setSent(new Set(pairs.map(pairId)));
    await write({
      say: t(
        verdict === "first" || verdict === "both" ? "review.did.kept" : "review.did.corrected",
      ),
      about: t("review.pairs.count", { count: pairs.length }),
      // The requests of a change need one another; other answers are accepted or refused by themselves.
      inOrder: verdict === "changed",
      runs: pairs.flatMap((pair) => pairRuns(lukasa, pair, verdict, on)),
    });
    await queries.invalidateQueries({ queryKey: REVIEW });
    setSent(new Set());
  };
  return { sent, answer };
}
