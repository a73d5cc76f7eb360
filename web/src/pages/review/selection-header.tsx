/** The header of a list whose rows are chosen: how many are, and all or none of them with one click. */
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

export function SelectionHeader({
  chosen,
  shown,
  progress,
  onSelectAll,
  onDeselect,
}: {
  chosen: number;
  shown: number;
  /** How many of the chosen rows are answered, while they are. */
  progress?: { done: number; of: number };
  onSelectAll: () => void;
  onDeselect: () => void;
}) {
  return (
    <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
      <output className="min-w-0 flex-1 text-meta text-muted tabular-nums">
        {progress ? t("review.list.progress", progress) : t("memory.nSelected", { count: chosen })}
      </output>
      {chosen > 0 ? (
        <Button small look="quiet" onClick={onDeselect}>
          {t("memory.deselect")}
        </Button>
      ) : (
        <Button small look="quiet" onClick={onSelectAll}>
          {t("review.list.all", { count: shown })}
        </Button>
      )}
    </header>
  );
}
