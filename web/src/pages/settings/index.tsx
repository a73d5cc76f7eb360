/** Settings page: what is remembered, connecting assistants, appearance. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Appearance } from "./appearance.tsx";
import { ChatModel } from "./chat-model.tsx";
import { ConnectAssistant } from "./connect-assistant.tsx";
import { Domains } from "./domains.tsx";
import { SETTINGS_TABS } from "./params.ts";
import { Policy } from "./policy.tsx";

const route = getRouteApi("/settings");

export default function SettingsPage() {
  const navigate = useNavigate();
  const { tab = "rules" } = route.useSearch();
  return (
    <Page title={t("settings.title")} layout="reading">
      <div className="flex flex-col gap-5">
        <Tabs
          label={t("settings.title")}
          value={tab}
          tabs={SETTINGS_TABS.map((value) => ({ value, label: t(`settings.tab.${value}`) }))}
          onChange={(chosen) =>
            void navigate({ to: "/settings", search: { tab: chosen }, replace: true })
          }
        >
          {tab === "rules" && (
            <>
              <Policy />
              <Domains />
            </>
          )}
          {tab === "assistants" && (
            <>
              <ConnectAssistant />
              <ChatModel />
            </>
          )}
          {tab === "look" && <Appearance />}
        </Tabs>
      </div>
    </Page>
  );
}
