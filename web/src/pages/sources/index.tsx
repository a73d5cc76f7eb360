/** Sources page: from portraits to the sentence behind a memory, and to what depends on it. */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ChartNoAxesColumn } from "lucide-react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { Why } from "../../features/sources/why.tsx";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Breadcrumb, parentLevel } from "./breadcrumb.tsx";
import { ChatLevel } from "./chat.tsx";
import { Chats, Trash } from "./chats.tsx";
import { EpisodeLevel, Episodes } from "./episodes.tsx";
import { ErasingProvider } from "./erasing.tsx";
import { MemoryLevel } from "./one-memory.tsx";
import type { SourcesParams } from "./params.ts";
import { Portraits } from "./portraits.tsx";

const route = getRouteApi("/sources");

export default function SourcesPage() {
  const search = route.useSearch();
  const { portrait, memory, episode, session } = search;
  const top = !portrait && !memory && !episode && !session;
  return (
    <Page
      title={t("sources.title")}
      layout="reading"
      actions={
        top && (
          <Link to="/insights" className={buttonClasses("plain", true)}>
            <ChartNoAxesColumn size={14} aria-hidden />
            {t("shell.page.insights")}
          </Link>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <ErasingProvider>
          {top ? <Top search={search} /> : <Below search={search} />}
        </ErasingProvider>
      </div>
    </Page>
  );
}

const VIEWS = ["known", "episodes", "chats", "trash"] as const;

function Top({ search }: { search: SourcesParams }) {
  const navigate = useNavigate();
  return (
    <Tabs
      label={t("sources.title")}
      value={search.view ?? "known"}
      tabs={VIEWS.map((value) => ({ value, label: t(`sources.view.${value}`) }))}
      onChange={(view) =>
        void navigate({ to: "/sources", search: view === "known" ? {} : { view } })
      }
    >
      {search.view === "chats" ? (
        <Chats find={search.find} />
      ) : search.view === "episodes" ? (
        <Episodes />
      ) : search.view === "trash" ? (
        <Trash />
      ) : (
        <Portraits />
      )}
    </Tabs>
  );
}

function Below({ search }: { search: SourcesParams }) {
  const navigate = useNavigate();
  useShortcuts(t("sources.title"), [
    {
      keys: "u",
      label: t("sources.key.up"),
      run: () => void navigate({ to: "/sources", search: parentLevel(search) }),
    },
  ]);
  return (
    <>
      <Breadcrumb search={search} />
      <Level search={search} />
    </>
  );
}

/** The lowest level of the address. */
function Level({ search }: { search: SourcesParams }) {
  const { portrait, memory, episode, session, turn, why } = search;
  if (session && turn !== undefined && why) {
    return <Why key={`${session} ${turn}`} session={session} turn={turn} />;
  }
  if (session) return <ChatLevel search={{ ...search, session }} />;
  if (episode) return <EpisodeLevel search={{ ...search, episode }} />;
  if (memory) return <MemoryLevel search={{ ...search, memory }} />;
  return <Portraits only={portrait} />;
}
