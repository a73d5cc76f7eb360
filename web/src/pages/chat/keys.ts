/** Keyboard shortcuts of the chat page; the palette lists them too. */
import { useNavigate } from "@tanstack/react-router";
import type { RefObject } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useSessions } from "../../data/sessions.ts";
import { useChatWrites } from "../../features/chat/writes.ts";
import { t } from "../../i18n/index.ts";

export function useChatKeys(
  session: string | null,
  title: string,
  field: RefObject<HTMLTextAreaElement | null>,
  find: () => void,
  rename: (session: string) => void,
): void {
  const navigate = useNavigate();
  const writes = useChatWrites();
  const sessions = useSessions().data ?? [];
  const view = sessions.find((one) => one.id === session);
  const step = (by: number) => {
    const listed = sessions
      .filter((one) => !one.incognito && one.turns > 0)
      .toSorted((a, b) => b.last_turn_at.localeCompare(a.last_turn_at));
    const next = listed[listed.findIndex((one) => one.id === session) + by];
    if (next) void navigate({ to: "/chat/$session", params: { session: next.id } });
  };
  const begin = () => {
    void navigate({ to: "/chat" });
    field.current?.focus();
  };
  useShortcuts(t("chat.title"), [
    { keys: "n", label: t("chat.new"), run: begin, first: true },
    { keys: "m", label: t("chat.write"), run: () => field.current?.focus(), quiet: true },
    { keys: "/", label: t("chat.find"), run: find },
    { keys: "j", label: t("chat.next"), run: () => step(1), quiet: true },
    { keys: "k", label: t("chat.previous"), run: () => step(-1), quiet: true },
    {
      keys: "i",
      label: t("chat.incognitoNew"),
      run: () => void navigate({ to: "/chat", search: { mode: "read-only" } }),
    },
    ...(view
      ? [
          { keys: "r", label: t("chat.renameThis"), run: () => rename(view.id) },
          { keys: "d", label: t("chat.deleteThis"), run: () => void writes.delete(view, title) },
        ]
      : []),
  ]);
}
