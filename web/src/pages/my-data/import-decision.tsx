/** The user's decision about an import: use all of its memories in prompts, or only chosen ones. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { DecideImport, ImportView } from "lukasa-client";
import { useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { useMemories } from "../../data/memories.ts";
import { refreshMemories } from "../../data/store.ts";
import { useBatchWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

/** Memories per request; the server's limit. */
const MEMORIES_PER_REQUEST = 1_000;
const IMPORTS = ["operations", "imports"];

export function ImportDecision({ one }: { one: ImportView }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useBatchWrite();
  const [busy, setBusy] = useState(false);
  const [choosing, setChoosing] = useState(false);
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
    setChoosing(false);
    await queries.invalidateQueries({ queryKey: IMPORTS });
  };
  return (
    <div className="flex basis-full flex-wrap items-center gap-x-4 gap-y-2 pb-1">
      <p className="min-w-0 flex-1 basis-56 text-meta">
        {t("data.decision.text", { count: one.undecided })}
      </p>
      <div className="flex gap-2">
        <Button small disabled={busy} onClick={() => setChoosing(true)}>
          {t("data.decision.choose")}
        </Button>
        <Button
          small
          look="primary"
          busy={busy}
          onClick={() => void decide({ use: "all" }, one.undecided)}
        >
          {t("data.decision.all")}
        </Button>
      </div>
      <Dialog
        open={choosing}
        onOpenChange={setChoosing}
        title={t("data.decision.title")}
        text={t("data.decision.help")}
        wide
      >
        {choosing && (
          <Choice
            one={one}
            busy={busy}
            onChosen={(ids) => void decide({ use: "chosen", memory_ids: ids }, ids.length)}
          />
        )}
      </Dialog>
    </div>
  );
}

/** The memories that wait, with a checkbox each. */
function Choice({
  one,
  busy,
  onChosen,
}: {
  one: ImportView;
  busy: boolean;
  onChosen: (ids: string[]) => void;
}) {
  const lukasa = useLukasa();
  const { byId, complete } = useMemories();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const waiting = useQuery({
    queryKey: [...IMPORTS, one.id],
    queryFn: ({ signal }) => lukasa.imports.undecided(one.id, { signal }),
  });
  if (waiting.error) return <ProblemCard error={waiting.error} />;
  if (!waiting.data || !complete) return <Skeleton />;
  const ids = waiting.data.filter((id) => byId.has(id));
  const toggle = (id: string, checked: boolean) => {
    const next = new Set(chosen);
    if (checked) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <div className="flex flex-col gap-4">
      <ul className="flex flex-col gap-1">
        {ids.map((id) => (
          // Off-screen rows are not laid out: there may be a thousand.
          <li key={id} className="[content-visibility:auto] [contain-intrinsic-size:auto_1.75rem]">
            <Checkbox
              label={<bdi>{byId.get(id)?.content}</bdi>}
              checked={chosen.has(id)}
              onChange={(checked) => toggle(id, checked)}
            />
          </li>
        ))}
      </ul>
      {one.undecided > ids.length && (
        <p className="text-meta text-muted">
          {t("data.decision.more", { count: one.undecided - ids.length })}
        </p>
      )}
      <div className="sticky -bottom-4 -mb-4 flex items-center justify-end gap-2 border-t bg-surface py-3">
        <Button
          look="primary"
          busy={busy}
          disabled={chosen.size === 0}
          onClick={() => onChosen(ids.filter((id) => chosen.has(id)))}
        >
          {t("data.decision.use", { count: chosen.size })}
        </Button>
      </div>
    </div>
  );
}
