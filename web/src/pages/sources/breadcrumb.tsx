/** Breadcrumb of the open levels. */

import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { useMemory } from "../../data/memories.ts";
import { shownContent } from "../../data/shown-content.ts";
import { useEpisodes, useOneSession, usePortraits } from "../../data/sources.ts";
import { useTitle } from "../../data/titles.ts";
import { t } from "../../i18n/index.ts";
import { portraitName } from "../../i18n/portraits.ts";
import type { SourcesParams } from "./params.ts";

interface Step {
  key: string;
  name: ReactNode;
  search: SourcesParams;
  /** Whether the label is text of a user. */
  words?: boolean;
}

export function Breadcrumb({ search }: { search: SourcesParams }) {
  const { portrait, memory, episode, session, turn, why } = search;
  const portraits = usePortraits();
  const episodes = useEpisodes();
  const chat = useOneSession(session);
  const title = useTitle(chat.data);
  const steps: Step[] = [];
  const levels: SourcesParams = {};
  if (portrait || memory) steps.push({ key: "known", name: t("sources.view.known"), search: {} });
  else if (episode) {
    steps.push({ key: "top", name: t("sources.view.episodes"), search: { view: "episodes" } });
  } else steps.push({ key: "top", name: t("sources.view.chats"), search: { view: "chats" } });
  if (portrait) {
    const found = portraits.data?.find((one) => one.name === portrait);
    levels.portrait = portrait;
    steps.push({
      key: "portrait",
      name: found ? portraitName(found) : portrait,
      search: { ...levels },
    });
  }
  if (memory) {
    levels.memory = memory;
    const name = <MemoryName id={memory} />;
    steps.push({ key: "memory", name, search: { ...levels }, words: true });
  }
  if (episode) {
    const found = episodes.data?.find((one) => one.id === episode);
    levels.episode = episode;
    const title = found?.hidden_domain ? undefined : found?.title;
    const name = title || t("sources.level.episode");
    steps.push({ key: "episode", name, search: { ...levels }, words: Boolean(title) });
  }
  if (session) {
    levels.session = session;
    const name = chat.data ? title : t("sources.level.chat");
    steps.push({ key: "session", name, search: { ...levels }, words: true });
    if (turn !== undefined) {
      levels.turn = turn;
      const name = t("sources.level.turn", { number: turn });
      steps.push({ key: "turn", name, search: { ...levels } });
      if (why) {
        const search = { ...levels, why };
        steps.push({ key: "why", name: t("sources.why.short"), search });
      }
    }
  }
  return (
    <nav aria-label={t("sources.trail")}>
      <ol className="flex flex-wrap items-center gap-x-1 text-meta text-muted">
        {steps.map((step, at) => {
          const last = at === steps.length - 1;
          return (
            <li key={step.key} className="flex min-w-0 items-center gap-1">
              {at > 0 && (
                <ChevronRight
                  size={13}
                  aria-hidden
                  className="shrink-0 text-faint rtl:rotate-180"
                />
              )}
              {last ? (
                <span
                  aria-current="page"
                  dir={step.words ? "auto" : undefined}
                  className="max-w-64 truncate py-0.5 font-medium text-ink max-sm:max-w-48"
                >
                  {step.name}
                </span>
              ) : (
                <Link
                  to="/sources"
                  search={step.search}
                  activeOptions={{ exact: true }}
                  dir={step.words ? "auto" : undefined}
                  className="block min-h-6 pointer-coarse:min-h-11 max-w-56 truncate py-0.5 text-muted no-underline hover:text-ink hover:underline max-sm:max-w-32"
                >
                  {step.name}
                </Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function MemoryName({ id }: { id: string }) {
  const memory = useMemory(id);
  return memory.data ? shownContent(memory.data) : t("sources.level.memory");
}

/** The search parameters one level up, for the shortcut. */
export function parentLevel(search: SourcesParams): SourcesParams {
  const { portrait, memory, episode, session, turn, why } = search;
  if (why) return { portrait, memory, episode, session, turn };
  if (session) {
    return portrait || memory || episode ? { portrait, memory, episode } : { view: "chats" };
  }
  if (episode) return portrait || memory ? { portrait, memory } : { view: "episodes" };
  return memory && portrait ? { portrait } : {};
}
