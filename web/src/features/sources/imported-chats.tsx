/** What an import brought besides memories: its chats, and whether Lukasa learns from them. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import type { ImportView } from "lukasa-client";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import {
  chatsImported,
  importedChat,
  importedPrefixes,
  isLearned,
  setUpTab,
} from "../../data/imported-chats.ts";
import { learningPoll } from "../../data/sources.ts";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";

/** Nothing if these imports brought no chats. */
export function ImportedChats({ imports }: { imports: readonly ImportView[] }) {
  return chatsImported(imports) > 0 && <Chats imports={imports} />;
}

function Chats({ imports }: { imports: readonly ImportView[] }) {
  const { local, admin } = useSignIn();
  const learning = useLearningOfChats(importedPrefixes(imports));
  const setUp = setUpTab(learning, local || admin);
  const count = chatsImported(imports);
  return (
    <section
      aria-label={t("data.chats.title")}
      className="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-card border bg-surface p-4"
    >
      <MessagesSquare size={18} aria-hidden className="shrink-0 text-faint" />
      <p className="min-w-0 flex-1 basis-60">
        <strong className="font-semibold">{t("data.chats.imported", { count })}</strong>{" "}
        <span className="text-muted">
          {learning && t(isLearned(learning) ? "data.chats.learning" : "data.chats.notLearned")}
        </span>
      </p>
      <div className="flex flex-wrap gap-2">
        <Link to="/sources" search={{ view: "chats" }} className={buttonClasses("plain", true)}>
          {t("data.chats.read")}
        </Link>
        {setUp && (
          <Link to="/settings" search={{ tab: setUp }} className={buttonClasses("plain", true)}>
            {t("data.chats.setUp")}
          </Link>
        )}
      </div>
    </section>
  );
}

/** Pages of chats read at most to find an imported one, which may be years old. */
const MAX_PAGES = 10;

/** How far learning from the newest imported chat is: the state is only in the answer about a single chat. */
function useLearningOfChats(prefixes: readonly string[]): string | undefined {
  const lukasa = useLukasa();
  const state = useQuery({
    queryKey: ["sessions", "learning", prefixes],
    queryFn: async ({ signal }) => {
      let read = 0;
      for await (const { data } of lukasa.sessions.list({ limit: 200 }, { signal }).pages()) {
        const id = importedChat(data, prefixes);
        if (id) return (await lukasa.sessions.get(id, { signal })).learning?.state ?? null;
        if (++read === MAX_PAGES) break;
      }
      return null;
    },
    refetchInterval: ({ state }) => learningPoll(state.data),
  });
  return state.data ?? undefined;
}
