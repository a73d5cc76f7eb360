/** The filters on a phone, one below the other. */
import type { ReactNode } from "react";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Sheet } from "../../ui/sheet.tsx";

export function FilterSheet({
  open,
  onOpenChange,
  shown,
  chosen,
  onClear,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** How many memories match. */
  shown: number;
  /** How many filters are set. */
  chosen: number;
  onClear: () => void;
  children: ReactNode;
}) {
  return (
    <Sheet
      open={open}
      onOpenChange={onOpenChange}
      title={t("memory.filters")}
      actions={
        <>
          <Button disabled={chosen === 0} onClick={onClear}>
            {t("memory.clearAll")}
          </Button>
          <Button look="primary" onClick={() => onOpenChange(false)}>
            {t("memory.filters.show", { count: shown })}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-2 [&>button]:h-control [&>button]:w-full [&>button]:max-w-none [&>button]:justify-between [&>button]:rounded-control [&>button]:px-3 [&>button]:text-body">
        {children}
      </div>
    </Sheet>
  );
}
