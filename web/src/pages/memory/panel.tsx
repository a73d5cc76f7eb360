/** One memory beside the list; on phones in a sheet over it. */
import { Link } from "@tanstack/react-router";
import { Maximize2, X } from "lucide-react";
import { useState } from "react";
import type { PointInTime } from "../../data/past.ts";
import { Detail } from "../../features/detail/index.tsx";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { isPhone } from "../../ui/phone.ts";
import { Sheet } from "../../ui/sheet.tsx";

export function SidePanel({
  id,
  then,
  part,
  onPart,
  onClose,
}: {
  id: string;
  then: PointInTime | undefined;
  part: string | undefined;
  onPart: (part: string | undefined) => void;
  onClose: () => void;
}) {
  // It stays what it was opened as: a turned screen must not lose what is being written.
  const [phone] = useState(isPhone);
  const [open, setOpen] = useState(true);
  const detail = (
    <Detail key={id} id={id} then={then} part={part} onPart={onPart} onErased={onClose} />
  );
  if (phone) {
    return (
      <Sheet
        open={open}
        onOpenChange={setOpen}
        onClosed={onClose}
        title={t(
          part === "edit"
            ? "memory.act.correct"
            : part === "changed"
              ? "memory.act.changed"
              : "memory.one",
        )}
      >
        {detail}
      </Sheet>
    );
  }
  return (
    <aside
      aria-label={t("memory.one")}
      className="flex min-h-0 w-[30rem] shrink-0 flex-col border-s border-t bg-surface max-lg:hidden"
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
      <div className="min-h-0 flex-1 overflow-y-auto p-4">{detail}</div>
    </aside>
  );
}
