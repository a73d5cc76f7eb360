/** Empty states of the Memory page: a command to run on the first visit, otherwise next steps. */
import { Link } from "@tanstack/react-router";
import { Layers, SearchX, Trash2 } from "lucide-react";
import { useSignIn } from "../../base/sign-in.ts";
import { curl } from "../../data/curl.ts";
import { t } from "../../i18n/index.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import type { Tab } from "./memory-set.ts";

/** No memory was ever saved. Replaced by the list when the first one arrives. */
export function FirstVisit({ onAdd }: { onAdd: () => void }) {
  const signIn = useSignIn();
  return (
    <EmptyState
      icon={<Layers size={20} aria-hidden />}
      title={t("memory.empty.title")}
      text={t("memory.empty.text")}
      snippet={curl("/api/memory", '{"content": "I only do index funds"}', signIn)}
      waiting={t("memory.empty.waiting")}
      next={[
        {
          text: t("memory.empty.typeIt"),
          action: (
            <Button small onClick={onAdd}>
              {t("memory.act.add")}
            </Button>
          ),
        },
        {
          text: t("memory.empty.chat"),
          action: (
            <Link to="/chat" className={buttonClasses("plain", true)}>
              {t("shell.page.chat")}
            </Link>
          ),
        },
        {
          text: t("memory.empty.bring"),
          action: (
            <Link to="/data" className={buttonClasses("plain", true)}>
              {t("shell.page.data")}
            </Link>
          ),
        },
      ]}
    >
      {signIn.local && (
        <div className="flex flex-col gap-2">
          <p className="text-[0.8125rem] text-muted">{t("memory.empty.shell")}</p>
          <Snippet code={'lukasa save "I only do index funds"'} />
          <p className="text-[0.8125rem] text-muted">{t("memory.empty.connect")}</p>
          <Snippet code="lukasa connect" />
        </div>
      )}
    </EmptyState>
  );
}

/** No memory in this tab, or none that matches the filter. */
export function NothingHere({
  tab,
  filtered,
  onClear,
}: {
  tab: Tab;
  filtered: boolean;
  onClear: () => void;
}) {
  if (filtered) {
    return (
      <EmptyState
        icon={<SearchX size={20} aria-hidden />}
        title={t("memory.none.filtered")}
        text={t("memory.none.filteredText")}
      >
        <div className="flex justify-center">
          <Button onClick={onClear}>{t("memory.clearAll")}</Button>
        </div>
      </EmptyState>
    );
  }
  const icon =
    tab === "trashed" ? <Trash2 size={20} aria-hidden /> : <Layers size={20} aria-hidden />;
  return (
    <EmptyState icon={icon} title={t(`memory.none.${tab}`)} text={t(`memory.none.${tab}Text`)} />
  );
}
