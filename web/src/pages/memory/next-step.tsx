/** What to do after the first memories, while no assistant has called: connect one, or import. */
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { prefer, usePreferences } from "../../base/preferences.ts";
import { useLatestCall } from "../../features/connect/connection.ts";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";

export function NextStep() {
  return usePreferences().nextStepHidden ? null : <Strip />;
}

function Strip() {
  const { call, known } = useLatestCall();
  if (call || !known) return null;
  return (
    <section
      aria-label={t("memory.next.title")}
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b bg-accent-soft/40 px-4 py-2 sm:px-6"
    >
      <p className="min-w-0 flex-1 basis-60">{t("memory.next.text")}</p>
      <div className="flex items-center gap-3 max-sm:basis-full">
        <Link
          to="/settings"
          search={{ tab: "assistants" }}
          className={buttonClasses("primary", true)}
        >
          {t("memory.next.connect")}
        </Link>
        <Link to="/data" className={buttonClasses("plain", true)}>
          {t("memory.next.import")}
        </Link>
        <IconButton
          small
          className="ms-auto"
          label={t("memory.next.hide")}
          onClick={() => prefer({ nextStepHidden: true })}
        >
          <X size={14} aria-hidden />
        </IconButton>
      </div>
    </section>
  );
}
