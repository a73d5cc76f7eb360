/** A chat that is in the trash, with a button to restore it. */

import { Trash2 } from "lucide-react";
import type { SessionView } from "lukasa-client";
import { useTitle } from "../../data/titles.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { useChatWrites } from "./writes.ts";

export function TrashedChat({ session }: { session: SessionView }) {
  const { restore } = useChatWrites();
  const title = useTitle(session);
  return (
    <EmptyState
      icon={<Trash2 size={20} aria-hidden />}
      title={t("sources.trash.one")}
      text={t("sources.trash.oneText")}
      next={[
        {
          text: <bdi>{title}</bdi>,
          action: (
            <Button small onClick={() => void restore(session, title)}>
              {t("memory.act.restore")}
            </Button>
          ),
        },
      ]}
    />
  );
}
