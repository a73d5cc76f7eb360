/** The header of a chat: its title and memory mode, on one line, also on phones. */
import { useNavigate } from "@tanstack/react-router";
import { BookmarkCheck, Ghost, PanelLeft } from "lucide-react";
import { useEffect } from "react";
import type { Mode } from "../../data/gateway.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu, MenuChoice } from "../../ui/menu.tsx";

export function ChatHeader({
  title,
  onShowTitle,
  mode,
  showChats,
}: {
  title: string;
  /** Shows the title, if it is hidden. */
  onShowTitle?: () => void;
  mode: Mode;
  /** Opens the list of chats on narrow screens. */
  showChats: () => void;
}) {
  useEffect(() => {
    document.title = `${title} · Lukasa`;
  }, [title]);
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 px-4 sm:px-6">
      <span className="-ms-2 lg:hidden">
        <IconButton label={t("chat.chats")} onClick={showChats}>
          <PanelLeft size={16} aria-hidden className="rtl:-scale-x-100" />
        </IconButton>
      </span>
      <h1 dir="auto" className="min-w-0 truncate text-title">
        {title}
      </h1>
      {onShowTitle && (
        <Button
          small
          look="quiet"
          aria-label={t("sources.showTitle")}
          className="shrink-0"
          onClick={onShowTitle}
        >
          {t("sources.showHidden")}
        </Button>
      )}
      {mode !== "on" && (
        <Badge tone="accent">
          <Ghost size={12} aria-hidden />
          {t("chat.incognito")}
        </Badge>
      )}
      <span className="flex-1" />
      <ModeMenu mode={mode} />
    </header>
  );
}

/** The memory mode. Another choice starts a new chat: a chat cannot change its mode. */
function ModeMenu({ mode }: { mode: Mode }) {
  const navigate = useNavigate();
  const Icon = mode === "on" ? BookmarkCheck : Ghost;
  return (
    <Menu
      trigger={
        <button type="button" className={buttonClasses("quiet", true)}>
          <Icon size={15} aria-hidden />
          <span className="max-sm:sr-only">{t(`chat.mode.${mode}`)}</span>
        </button>
      }
    >
      <MenuChoice<Mode>
        label={t("chat.modeName")}
        value={mode}
        onChange={(chosen) => {
          if (chosen === mode) return;
          void navigate({ to: "/chat", search: chosen === "on" ? {} : { mode: chosen } });
        }}
        choices={[
          {
            value: "on",
            text: t("chat.mode.on"),
            icon: <BookmarkCheck size={14} aria-hidden />,
          },
          {
            value: "read-only",
            text: t("chat.mode.read-only"),
            icon: <Ghost size={14} aria-hidden />,
          },
          { value: "off", text: t("chat.mode.off"), icon: <Ghost size={14} aria-hidden /> },
        ]}
      />
    </Menu>
  );
}
