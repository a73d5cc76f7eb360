/** The memories that are about the same as one, each with a link to it. */
import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import { useRelated } from "../../data/clusters.ts";
import { shownContent } from "../../data/shown-content.ts";
import { t } from "../../i18n/index.ts";

export function RelatedPart({ memory }: { memory: MemoryView }) {
  const related = useRelated(memory);
  if (related.length === 0) return null;
  return (
    <section aria-label={t("detail.related")} className="flex flex-col gap-2">
      <h3 className="text-fine font-medium text-muted">{t("detail.related")}</h3>
      <ul className="flex flex-col rounded-control border">
        {related.map((one) => (
          <li key={one.id} className="border-b last:border-b-0">
            <Link
              to="/memory/$id"
              params={{ id: one.id }}
              dir="auto"
              className="block truncate px-3 py-1.5 text-ink pointer-coarse:min-h-11"
            >
              {shownContent(one)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
