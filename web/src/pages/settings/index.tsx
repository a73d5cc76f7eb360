/** Settings page: policy, apps, users, webhooks, jobs, appearance. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useSignIn } from "../../base/sign-in.ts";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Appearance } from "./appearance.tsx";
import { Apps } from "./apps.tsx";
import { ConnectAssistant } from "./connect-assistant.tsx";
import { Domains } from "./domains.tsx";
import { Jobs } from "./jobs.tsx";
import { SETTINGS_TABS, type SettingsTab } from "./params.ts";
import { Policy } from "./policy.tsx";
import { Users } from "./users.tsx";
import { Webhooks } from "./webhooks.tsx";

const route = getRouteApi("/settings");
/** Tabs for operators only. */
const ADMIN = new Set<SettingsTab>(["apps", "people", "webhooks"]);

export default function SettingsPage() {
  const signIn = useSignIn();
  const navigate = useNavigate();
  const tabs = SETTINGS_TABS.filter((one) => signIn.admin || !ADMIN.has(one));
  const requested = route.useSearch().tab ?? "rules";
  const tab = tabs.includes(requested) ? requested : "rules";
  return (
    <Page title={t("settings.title")}>
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-5">
        <Tabs
          label={t("settings.title")}
          value={tab}
          tabs={tabs.map((value) => ({ value, label: t(`settings.tab.${value}`) }))}
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
          {tab === "apps" && (
            <>
              <Apps />
              <ConnectAssistant />
            </>
          )}
          {tab === "people" && <Users />}
          {tab === "webhooks" && <Webhooks />}
          {tab === "jobs" && <Jobs />}
          {tab === "look" && <Appearance />}
        </Tabs>
      </div>
    </Page>
  );
}
