/** What would go into a prompt, and why. */
import { FlaskConical } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function PlaygroundPage() {
  return (
    <Page title={t("playground.title")}>
      <EmptyState
        icon={<FlaskConical size={20} aria-hidden />}
        title={t("playground.empty.title")}
        text={t("playground.empty.text")}
      />
    </Page>
  );
}
