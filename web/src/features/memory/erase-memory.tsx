/** The dialog for erasing one memory, with a preview of what is removed. */

import { useQuery } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useLukasa } from "../../base/sign-in.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { shownContent } from "../../data/shown-content.ts";
import { t } from "../../i18n/index.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { EraseDialog } from "../erasure/erase-dialog.tsx";
import { RemovedCounts } from "../erasure/receipt-card.tsx";

export function EraseMemory({
  memory,
  onClose,
}: {
  memory: MemoryView;
  /** Receives whether it was erased. */
  onClose: (erased: boolean) => void;
}) {
  const lukasa = useLukasa();
  const { erase } = useMemoryWrites();
  const preview = useQuery({
    queryKey: ["erasure", memory.id],
    queryFn: ({ signal }) => lukasa.memories.previewErasure(memory.id, { signal }),
    gcTime: 0,
  });
  return (
    <EraseDialog
      title={t("data.erase.oneTitle")}
      text={t("data.erase.oneText")}
      ready={preview.data !== undefined}
      run={() => erase(memory)}
      onClose={onClose}
    >
      <p dir="auto" className="rounded-control border bg-sunken px-3 py-2 whitespace-pre-wrap">
        {shownContent(memory)}
      </p>
      {preview.error ? (
        <ProblemCard error={preview.error} retry={() => void preview.refetch()} />
      ) : preview.data ? (
        <section aria-label={t("data.erase.goes")} className="flex flex-col gap-2">
          <h3 className="font-medium">{t("data.erase.goes")}</h3>
          <RemovedCounts removes={preview.data.removes} />
        </section>
      ) : (
        <p className="text-muted">{t("shell.loading")}</p>
      )}
    </EraseDialog>
  );
}
