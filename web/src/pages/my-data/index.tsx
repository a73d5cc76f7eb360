/** Import & export page: import, export, erasing. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Erase } from "./erase.tsx";
import { Export } from "./export.tsx";
import { Import } from "./import.tsx";
import { DATA_TABS } from "./params.ts";

const route = getRouteApi("/data");

export default function DataPage() {
  const { tab = "import" } = route.useSearch();
  const navigate = useNavigate();
  return (
    <Page title={t("data.title")} layout="reading">
      <div className="flex flex-col gap-5">
        <Tabs
          label={t("data.title")}
          value={tab}
          tabs={DATA_TABS.map((value) => ({ value, label: t(`data.tab.${value}`) }))}
          onChange={(chosen) =>
            void navigate({ to: "/data", search: { tab: chosen }, replace: true })
          }
        >
          {tab === "import" && <Import />}
          {tab === "export" && <Export />}
          {tab === "erase" && <Erase />}
        </Tabs>
      </div>
    </Page>
  );
}
