import { History } from "lucide-react";
import { exact } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import type { PointInTime } from "../../data/past.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

/** Banner shown during time travel. */
export function PastBanner({ then, onBack }: { then: PointInTime; onBack: () => void }) {
  const { timeZone } = usePreferences();
  const when = (at: string | undefined) => (at ? exact(at, timeZone) : t("memory.past.now"));
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t bg-warn-soft px-4 py-2 sm:px-6"
    >
      <History size={15} aria-hidden className="shrink-0 text-warn" />
      <p className="min-w-0 flex-1">
        {then.as_of && then.known_at
          ? t("memory.past.both", { as_of: when(then.as_of), known_at: when(then.known_at) })
          : then.as_of
            ? t("memory.past.true", { as_of: when(then.as_of) })
            : t("memory.past.known", { known_at: when(then.known_at) })}{" "}
        <span className="text-muted">{t("memory.past.readOnly")}</span>
      </p>
      <Button small onClick={onBack}>
        {t("memory.past.back")}
      </Button>
    </div>
  );
}
