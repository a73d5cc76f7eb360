/** The button that reads the next page of a list of chats. */
import type { useSessions } from "../../data/sessions.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

export function OlderChats({ of: chats }: { of: ReturnType<typeof useSessions> }) {
  if (!chats.hasNextPage) return null;
  return (
    <div className="flex justify-center">
      <Button
        small
        look="quiet"
        busy={chats.isFetchingNextPage}
        onClick={() => void chats.fetchNextPage()}
      >
        {t("chat.older")}
      </Button>
    </div>
  );
}
