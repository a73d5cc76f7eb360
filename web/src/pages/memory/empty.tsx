/** Empty states of the Memory page. */
import { Layers, Plus, SearchX, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { useSaveInArea } from "../../data/save-in-area.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import type { Tab } from "./memory-set.ts";

/** No memory in this tab, or none that matches the filter. */
export function NothingHere({
  tab,
  filtered,
  text,
  onMeaning,
  onClear,
  children,
}: {
  tab: Tab;
  filtered: boolean;
  /** The search text, which can be saved as a memory. */
  text?: string;
  /** Searches for the text by meaning, unless that was done. */
  onMeaning?: () => void;
  onClear: () => void;
  children?: ReactNode;
}) {
  const save = useSaveInArea();
  if (filtered) {
    return (
      <EmptyState
        icon={<SearchX size={20} aria-hidden />}
        title={text ? t("memory.none.for", { text }) : t("memory.none.filtered")}
        text={t("memory.none.filteredText")}
      >
        <div className="flex flex-wrap justify-center gap-2">
          {children}
          {text && onMeaning && <Button onClick={onMeaning}>{t("memory.none.search")}</Button>}
          {text && (
            <Button
              onClick={() =>
                void save(text).then((saved) => {
                  if (saved) onClear();
                })
              }
            >
              <Plus size={14} aria-hidden />
              <bdi className="max-w-60 truncate">{t("memory.none.save", { text })}</bdi>
            </Button>
          )}
          <Button look="quiet" onClick={onClear}>
            {t("memory.clearAll")}
          </Button>
        </div>
      </EmptyState>
    );
  }
  const icon =
    tab === "trashed" ? <Trash2 size={20} aria-hidden /> : <Layers size={20} aria-hidden />;
  return (
    <EmptyState icon={icon} title={t(`memory.none.${tab}`)} text={t(`memory.none.${tab}Text`)} />
  );
}
