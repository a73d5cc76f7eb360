/** Page of one memory. */

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useCallback } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { OneMemory } from "../../features/detail/one-memory.tsx";
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
  const show = useCallback(
    (part: string | undefined) =>
      void navigate({
        to: "/memory/$id",
        params: { id },
        search: (was) => ({ ...was, tab: part }),
        replace: true,
      }),
    [navigate, id],
  );
  const back = () => void navigate({ to: "/memory" });
  useShortcuts(t("memory.one"), [
    { keys: "Escape", label: t("memory.backToList"), run: back, quiet: true },
  ]);
  return (
    <Page
      title={t("memory.one")}
      layout="reading"
      back={
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
        <OneMemory id={id} then={then} part={tab} onPart={show} onErased={back} />
      </Card>
    </Page>
  );
}
