/** Developer page: apps and keys, users, webhooks, jobs. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useSignIn } from "../../base/sign-in.ts";
import { developer } from "../../i18n/en/developer.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Apps } from "./apps.tsx";
import { Jobs } from "./jobs.tsx";
import { DEVELOPER_TABS, type DeveloperTab } from "./params.ts";
import { Users } from "./users.tsx";
import { Webhooks } from "./webhooks.tsx";

addMessages({ developer });

const route = getRouteApi("/developer");
/** Tabs for users who are not operators: they may open their own failed jobs by a link. */
const PUBLIC: readonly DeveloperTab[] = ["jobs"];

export default function DeveloperPage() {
  const signIn = useSignIn();
  const navigate = useNavigate();
  const tabs = signIn.admin ? DEVELOPER_TABS : PUBLIC;
  const { tab: requested } = route.useSearch();
  const tab = requested && tabs.includes(requested) ? requested : tabs[0];
  return (
    <Page title={t("developer.title")} layout="reading">
      <div className="flex flex-col gap-5">
        <Tabs
          label={t("developer.title")}
          value={tab ?? "jobs"}
          tabs={tabs.map((value) => ({ value, label: t(`developer.tab.${value}`) }))}
          onChange={(chosen) =>
            void navigate({ to: "/developer", search: { tab: chosen }, replace: true })
          }
        >
          {tab === "apps" && <Apps />}
          {tab === "people" && <Users />}
          {tab === "webhooks" && <Webhooks />}
          {tab === "jobs" && <Jobs />}
        </Tabs>
      </div>
    </Page>
  );
}
