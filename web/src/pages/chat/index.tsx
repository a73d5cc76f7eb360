/** A reference assistant that shows what it remembers and uses. */
import { MessagesSquare } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";

export default function ChatPage() {
  return (
    <Page title={t("chat.title")}>
      <EmptyState
        icon={<MessagesSquare size={20} aria-hidden />}
        title={t("chat.empty.title")}
        text={t("chat.empty.text")}
      />
    </Page>
  );
}
