/** Card that invites the user to the monthly review. */
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { prefer, usePreferences } from "../../base/preferences.ts";
import { usePeriodicReview } from "../../data/review.ts";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { hiddenUntil, isInvited } from "./invited.ts";

export function Invitation() {
  const periodic = usePeriodicReview().data;
  const { reviewHiddenUntil } = usePreferences();
  if (!periodic || !isInvited(periodic, reviewHiddenUntil, Date.now())) return null;
  const count = periodic.learned_since;
  return (
    <Card
      title={t("review.monthly.title")}
      actions={
        <IconButton
          small
          label={t("review.monthly.later")}
          onClick={() => prefer({ reviewHiddenUntil: hiddenUntil(Date.now()) })}
        >
          <X size={14} aria-hidden />
        </IconButton>
      }
    >
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60">
          {t(periodic.last ? "review.monthly.since" : "review.monthly.first", { count })}{" "}
          {t("review.monthly.text")}
        </p>
        <Link to="/memory" className={buttonClasses("plain", true)}>
          {t("review.monthly.all")}
        </Link>
      </div>
    </Card>
  );
}
