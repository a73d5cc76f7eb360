/** The button that suggests areas for the memories without one. Its dialog is loaded when it is opened. */
import { FolderInput } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { lazy, Suspense, useState } from "react";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

const FilingDialog = lazy(async () => ({
  default: (await import("./index.tsx")).FilingDialog,
}));

export function SuggestAreas({ memories }: { memories: readonly MemoryView[] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        <FolderInput size={14} aria-hidden />
        {t("memory.suggestAreas")}
      </Button>
      {open && (
        <Suspense>
          <FilingDialog memories={memories} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
