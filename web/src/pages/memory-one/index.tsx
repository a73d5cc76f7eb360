/** One memory: what it says, since when, and where it came from. */

import { type MemoryView, QuipuError } from "@quipu/client";
import { getRouteApi } from "@tanstack/react-router";
import { ProblemCard } from "../../app/problems.tsx";
import { useShortcuts } from "../../app/shortcuts.tsx";
import { useMemoryActs } from "../../data/acts.ts";
import { useMemory } from "../../data/memories.ts";
import { sourceOf } from "../../data/select.ts";
import { known, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Page } from "../../ui/page.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { Force, SourceIcon, Tier } from "../../ui/standing.tsx";
import { Time } from "../../ui/time.tsx";

const route = getRouteApi("/memory/$id");

export default function OneMemoryPage() {
  const { id } = route.useParams();
  const { as_of, known_at } = route.useSearch();
  const memory = useMemory(id, { as_of, known_at });
  if (memory.error instanceof QuipuError && memory.error.status === 404) {
    return (
      <Page title={t("memory.one")}>
        <EmptyState title={t("memory.gone")} text={t("memory.goneText")} />
      </Page>
    );
  }
  return (
    <Page title={t("memory.one")}>
      {memory.error && <ProblemCard error={memory.error} retry={() => void memory.refetch()} />}
      {memory.isPending && <Spinner page />}
      {memory.data && (
        <Card className="max-w-3xl" title={t("memory.one")} actions={<Acts memory={memory.data} />}>
          <p dir="auto" className="text-base">
            {memory.data.content}
          </p>
          <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-[0.8125rem] text-muted">
            {memory.data.status !== "active" && (
              <Badge tone="warn">{statusWord(memory.data)}</Badge>
            )}
            <Tier tier={memory.data.tier} />
            <Force force={memory.data.force} words />
            <SourceIcon source={sourceOf(memory.data)} words />
            <Time at={memory.data.updated_at} />
          </div>
        </Card>
      )}
    </Page>
  );
}

function statusWord(memory: MemoryView): string {
  const key = `memory.status.${memory.status}`;
  return known(key) ? t(key) : memory.status;
}

/** What can be done to it, by button and by key. */
function Acts({ memory }: { memory: MemoryView }) {
  const { confirm, forget, delete: trash, restore } = useMemoryActs();
  const active = memory.status === "active";
  const acts = active
    ? [
        { keys: "c", label: t("memory.act.confirm"), run: () => void confirm(memory) },
        { keys: "f", label: t("memory.act.forget"), run: () => void forget(memory) },
        { keys: "d", label: t("memory.act.delete"), run: () => void trash(memory) },
      ]
    : [{ keys: "r", label: t("memory.act.restore"), run: () => void restore(memory) }];
  useShortcuts(t("memory.one"), acts);
  return acts.map((act) => (
    <Button key={act.keys} small onClick={act.run}>
      {act.label}
      <Kbd keys={act.keys} />
    </Button>
  ));
}
