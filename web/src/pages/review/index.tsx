/** What waits for its person's answer. */
import { Inbox } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function ReviewPage() {
  return (
    <Page title={t("review.title")}>
      <EmptyState
        icon={<Inbox size={20} aria-hidden />}
        title={t("review.empty.title")}
        text={t("review.empty.text")}
      />
    </Page>
  );
}
