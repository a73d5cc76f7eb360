/** The user's decision about an import: use all of its memories in prompts, or look at them first. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { DecideImport, ImportView } from "lukasa-client";
import { useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { IMPORTS } from "../../data/import-list.ts";
import { refreshMemories } from "../../data/store.ts";
import { useBatchWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";

/** Memories per request; the server's limit. */
const MEMORIES_PER_REQUEST = 1_000;

export function ImportDecision({ one }: { one: ImportView }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useBatchWrite();
  const [busy, setBusy] = useState(false);
  const decide = async (decision: DecideImport, count: number) => {
    setBusy(true);
    const requests = Math.ceil(count / MEMORIES_PER_REQUEST);
    await write({
      say: t("data.decision.done", { count }),
      about: one.name || one.format,
      runs: Array.from({ length: requests }, () => () => lukasa.imports.decide(one.id, decision)),
      after: ({ event }) => void refreshMemories(queries, lukasa, event.memory_ids),
    });
    setBusy(false);
    await queries.invalidateQueries({ queryKey: IMPORTS });
  };
  return (
    <div className="flex basis-full flex-wrap items-center gap-x-4 gap-y-2 pb-1">
      <p className="min-w-0 flex-1 basis-56 text-meta">
        {t("data.decision.text", { count: one.undecided })}
      </p>
      <div className="flex gap-2">
        <Link to="/reveal" search={{ import: one.id }} className={buttonClasses("plain", true)}>
          {t("data.decision.choose")}
        </Link>
        <Button
          small
          look="primary"
          busy={busy}
          onClick={() => void decide({ use: "all" }, one.undecided)}
        >
          {t("data.decision.all")}
        </Button>
      </div>
    </div>
  );
}
