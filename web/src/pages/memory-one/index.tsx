/** One memory: what it says, since when, and where it came from. */

import { QuipuError } from "@quipu/client";
import { getRouteApi } from "@tanstack/react-router";
import { ProblemCard } from "../../app/problems.tsx";
import { useMemory } from "../../data/memories.ts";
import { sourceOf } from "../../data/select.ts";
import { t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
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
        <Card className="max-w-3xl">
          <p dir="auto" className="text-base">
            {memory.data.content}
          </p>
          <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-[0.8125rem] text-muted">
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
