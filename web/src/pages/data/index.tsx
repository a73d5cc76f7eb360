/** Everything out, or gone. */
import { Download } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function DataPage() {
  return (
    <Page title={t("data.title")}>
      <EmptyState
        icon={<Download size={20} aria-hidden />}
        title={t("data.empty.title")}
        text={t("data.empty.text")}
      />
    </Page>
  );
}
