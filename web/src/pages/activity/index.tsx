/** Activity page: every change to the memory, with undo. */
import { activity } from "../../i18n/en/activity.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Page } from "../../ui/page.tsx";
import { ActivityLog } from "./log.tsx";

addMessages({ activity });

export default function ActivityPage() {
  return (
    <Page title={t("activity.title")} layout="reading">
      <div className="flex flex-col gap-5">
        <ActivityLog />
      </div>
    </Page>
  );
}
