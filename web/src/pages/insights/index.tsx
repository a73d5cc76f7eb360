/** How a memory grows, is used and is corrected. */
import { ChartNoAxesColumn } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function InsightsPage() {
  return (
    <Page title={t("insights.title")}>
      <EmptyState
        icon={<ChartNoAxesColumn size={20} aria-hidden />}
        title={t("insights.empty.title")}
        text={t("insights.empty.text")}
      />
    </Page>
  );
}
