/** What may happen without asking; keys, apps and jobs; the console itself. */
import { Settings } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function SettingsPage() {
  return (
    <Page title={t("settings.title")}>
      <EmptyState
        icon={<Settings size={20} aria-hidden />}
        title={t("settings.empty.title")}
        text={t("settings.empty.text")}
      />
    </Page>
  );
}
