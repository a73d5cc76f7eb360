/** Page of one memory: its text, validity and sources. */

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { useCallback } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useMemory } from "../../data/memories.ts";
import {
  MemoryActionsContext,
  useActionList,
  useAvailableActions,
} from "../../features/memory/actions.ts";
import { Detail } from "../../features/memory/detail.tsx";
import { DomainNames, useDomainNames } from "../../features/memory/labels.ts";
import { PastBanner } from "../../features/memory/past-banner.tsx";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Page } from "../../ui/page.tsx";

const route = getRouteApi("/memory/$id");

export default function MemoryDetailPage() {
  const { id } = route.useParams();
  const { as_of, known_at, tab } = route.useSearch();
  const navigate = useNavigate();
  const then = as_of || known_at ? { as_of, known_at } : undefined;
  const memory = useMemory(id, then ?? {});
  const names = useDomainNames();
  const show = useCallback(
    (part?: string) =>
      void navigate({
        to: "/memory/$id",
        params: { id },
        search: (was) => ({ ...was, tab: part }),
        replace: true,
      }),
    [navigate, id],
  );
  const list = useActionList(
    useCallback(() => show("edit"), [show]),
    useCallback(
      (of: string) => void navigate({ to: "/sources", search: { memory: of } }),
      [navigate],
    ),
  );
  const actions = useAvailableActions(list, then !== undefined);
  const fit: readonly { key: string; label: string; run: (memory: MemoryView) => void }[] =
    memory.data
      ? actions.forMemory(memory.data).map((one) => ({
          key: one.key,
          label: one.label,
          run: (of) => one.run(of, (_, part) => show(part)),
        }))
      : [];
  const back = () => void navigate({ to: "/memory" });
  useShortcuts(t("memory.one"), [
    ...fit.map((one) => ({
      keys: one.key,
      label: one.label,
      run: () => memory.data && one.run(memory.data),
    })),
    { keys: "Escape", label: t("memory.backToList"), run: back, quiet: true },
  ]);
  return (
    <MemoryActionsContext value={actions}>
      <DomainNames value={names}>
        <Page
          title={t("memory.one")}
          layout="reading"
          actions={
            <Link to="/memory" className={buttonClasses("quiet", true)}>
              <ArrowLeft size={14} aria-hidden className="rtl:rotate-180" />
              {t("memory.backToList")}
            </Link>
          }
        >
          {then && (
            <div className="mb-3 overflow-hidden rounded-card border">
              <PastBanner
                then={then}
                onBack={() =>
                  void navigate({ to: "/memory/$id", params: { id }, search: {}, replace: true })
                }
              />
            </div>
          )}
          <Card>
            <Detail
              key={id}
              id={id}
              then={then}
              part={tab}
              onErased={back}
              onEdited={() => show()}
            />
          </Card>
        </Page>
      </DomainNames>
    </MemoryActionsContext>
  );
}
