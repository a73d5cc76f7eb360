/** The side panel with one memory. Phones open a page instead. */
import { Link } from "@tanstack/react-router";
import { Maximize2, X } from "lucide-react";
import type { PointInTime } from "../../data/past.ts";
import { Detail } from "../../features/memory/detail.tsx";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";

export function SidePanel({
  id,
  then,
  part,
  onClose,
}: {
  id: string;
  then: PointInTime | undefined;
  part: string | undefined;
  onClose: () => void;
}) {
  return (
    <aside
      aria-label={t("memory.one")}
      className="flex min-h-0 w-[27rem] shrink-0 flex-col border-s border-t bg-surface max-lg:hidden"
    >
      <header className="flex h-11 shrink-0 items-center justify-between border-b ps-4 pe-2">
        <h2 className="font-medium">{t("memory.one")}</h2>
        <span className="flex items-center gap-0.5">
          <Link
            to="/memory/$id"
            params={{ id }}
            search={{ tab: part, ...then }}
            aria-label={t("memory.openPage")}
            title={t("memory.openPage")}
            className={buttonClasses("quiet", true)}
          >
            <Maximize2 size={14} aria-hidden />
          </Link>
          <IconButton small plain label={t("shell.close")} onClick={onClose}>
            <X size={16} aria-hidden />
          </IconButton>
        </span>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <Detail key={id} id={id} then={then} part={part} onErased={onClose} />
      </div>
    </aside>
  );
}
