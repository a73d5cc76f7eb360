/** The memories that are about the same as one, each with a link to it. */
import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import { useRelated } from "../../data/clusters.ts";
import { useMemories } from "../../data/memories.ts";
import { shownContent } from "../../data/shown-content.ts";
import { t } from "../../i18n/index.ts";

export function RelatedPart({ memory }: { memory: MemoryView }) {
  const { byId } = useMemories();
  // Those that were forgotten since the clusters were read are left out.
  const related = useRelated(memory).filter(
    ({ memory_id }) => (byId.get(memory_id)?.status ?? "active") === "active",
  );
  if (related.length === 0) return null;
  return (
    <section aria-label={t("detail.related")} className="flex flex-col gap-2">
      <h3 className="text-fine font-medium text-muted">{t("detail.related")}</h3>
      <ul className="flex flex-col rounded-control border">
        {related.map(({ memory_id, content }) => {
          const known = byId.get(memory_id);
          return (
            <li key={memory_id} className="border-b last:border-b-0">
              <Link
                to="/memory/$id"
                params={{ id: memory_id }}
                dir="auto"
                className="block min-h-6 truncate px-3 py-1.5 text-ink pointer-coarse:min-h-11"
              >
                {known ? shownContent(known) : content}
              </Link>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
