/** What an import brought besides memories: its chats, and whether Lukasa learns from them. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";

export function ImportedChats({ count }: { count: number }) {
  const { local, admin } = useSignIn();
  const learning = useLearningOfChats();
  const setUp = setUpTab(learning, local || admin);
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

/** Whether the server learns from its chats without another word of the user. */
function isLearned(state: string): boolean {
  return state !== "off" && state !== "no_model";
}

/** The settings that decide about learning. Only the operator can connect a model. */
function setUpTab(state: string | undefined, operator: boolean) {
  if (state !== "no_model") return "rules";
  return operator ? "assistants" : undefined;
}

/** How far learning from the latest chat is: the state is only in the answer about a single chat. */
function useLearningOfChats(): string | undefined {
  const lukasa = useLukasa();
  const state = useQuery({
    queryKey: ["sessions", "learning"],
    queryFn: async ({ signal }) => {
      const [latest] = (await lukasa.sessions.list({ limit: 1 }, { signal }).page()).data;
      if (!latest) return null;
      return (await lukasa.sessions.get(latest.id, { signal })).learning?.state ?? null;
    },
  });
  return state.data ?? undefined;
}
