/** The filters of the Memory page: chips in a row; on phones a button that shows them in a sheet. */
import { SlidersHorizontal } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { lazy, Suspense, useState } from "react";
import { ORDERS } from "../../data/select.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { usePhone } from "../../ui/phone.ts";
import { type Change, FilterChips, FilterMenu } from "./filters.tsx";
import { tabOf } from "./memory-set.ts";
import type { MemoryParams } from "./params.ts";

const FilterSheet = lazy(async () => ({
  default: (await import("./filter-sheet.tsx")).FilterSheet,
}));

/** The filters that are counted next to the button of phones. */
const FILTERS = ["domain", "project", "tier", "from", "category", "tag", "sort", "group"] as const;

interface FilterProps {
  all: readonly MemoryView[];
  search: MemoryParams;
  change: Change;
}

export function FilterBar({ shown, ...props }: FilterProps & { shown: number }) {
  const phone = usePhone();
  const [open, setOpen] = useState<boolean>();
  if (!phone) {
    return (
      <div className="flex flex-wrap items-center gap-1.5">
        <Filters {...props} />
      </div>
    );
  }
  const chosen = FILTERS.filter((name) => props.search[name] !== undefined).length;
  return (
    <>
      <Button
        aria-haspopup="dialog"
        aria-expanded={open ?? false}
        aria-label={t("memory.filters")}
        onClick={() => setOpen(true)}
      >
        <SlidersHorizontal size={16} aria-hidden />
        {chosen > 0 && <span className="tabular-nums">{chosen}</span>}
      </Button>
      {open !== undefined && (
        <Suspense>
          <FilterSheet
            open={open}
            onOpenChange={setOpen}
            shown={shown}
            chosen={chosen}
            onClear={() => props.change(NO_FILTERS)}
          >
            <Filters {...props} />
          </FilterSheet>
        </Suspense>
      )}
    </>
  );
}

/** What is cleared; the search text and the view stay. */
const NO_FILTERS: Partial<MemoryParams> = Object.fromEntries(
  FILTERS.map((name) => [name, undefined]),
);

function Filters({ all, search, change }: FilterProps) {
  const tab = tabOf(search);
  const view = search.view ?? "list";
  return (
    <>
      <FilterChips
        all={all}
        search={search}
        change={change}
        isCurrent={tab !== "forgotten" && tab !== "trashed"}
      />
      {(view === "list" || view === "board") && search.how !== "meaning" && (
        <FilterMenu
          name={t("memory.order")}
          value={search.sort}
          any={t("memory.order.changed")}
          choices={ORDERS.map((one) => ({ value: one, text: t(`memory.order.${one}`) }))}
          onChange={(sort) => change({ sort })}
        />
      )}
      {view === "list" && search.how !== "meaning" && (
        <FilterMenu
          name={t("memory.groupBy")}
          value={search.group}
          any={t("memory.field.domain")}
          choices={[{ value: "category", text: t("memory.field.category") }]}
          onChange={(group) => change({ group })}
        />
      )}
      {(view === "timeline" || view === "shape") && (
        <FilterMenu
          name={t("memory.by.name")}
          value={search.by}
          any={t("memory.by.true")}
          choices={[{ value: "learned", text: t("memory.by.learned") }]}
          onChange={(by) => change({ by })}
        />
      )}
    </>
  );
}
