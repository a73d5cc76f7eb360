/** From what is known back to the sentence it came from. */
import { Waypoints } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function SourcesPage() {
  return (
    <Page title={t("sources.title")}>
      <EmptyState
        icon={<Waypoints size={20} aria-hidden />}
        title={t("sources.empty.title")}
        text={t("sources.empty.text")}
      />
    </Page>
  );
}
