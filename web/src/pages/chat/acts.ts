/** What a person can do to a chat: give it another name, and put it into the trash. */
import type { SessionView, Written } from "@quipu/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { sentenceOf } from "../../app/problems.tsx";
import { useQuipu } from "../../app/session.tsx";
import { useAct } from "../../app/undo.tsx";
import { t } from "../../i18n/index.ts";
import { showToast } from "../../ui/toast.tsx";

const LIST = ["sessions"];

export function useChatActs() {
  const quipu = useQuipu();
  const queries = useQueryClient();
  const act = useAct();
  const navigate = useNavigate();
  const { session: open } = useParams({ strict: false });
  return useMemo(() => {
    const show = (change: (sessions: SessionView[]) => SessionView[]) => {
      const before = queries.getQueryData<SessionView[]>(LIST);
      if (before) queries.setQueryData(LIST, change(before));
      return () => queries.setQueryData(LIST, before);
    };
    const read = () => void queries.invalidateQueries({ queryKey: LIST });
    const retitle = async (session: SessionView, title: string) => {
      const hide = show((all) =>
        all.map((one) => (one.id === session.id ? { ...one, title } : one)),
      );
      try {
        await quipu.sessions.edit(session.id, { title });
        return true;
      } catch (error) {
        hide();
        showToast({ text: sentenceOf(error), tone: "bad" });
        return false;
      } finally {
        read();
      }
    };
    return {
      /** A name is no memory and no operation; so its own message takes it back. An empty one is none. */
      async rename(session: SessionView, title: string) {
        if (!(await retitle(session, title))) return;
        showToast({
          text: t("chat.renamed"),
          about: title,
          action: {
            label: t("shell.undo.undo"),
            run: () => void retitle({ ...session, title }, session.title ?? ""),
          },
        });
      },

      delete(session: SessionView, title: string) {
        if (session.id === open) void navigate({ to: "/chat" });
        return act({
          say: t("chat.deleted"),
          about: title,
          show: () => show((all) => all.filter((one) => one.id !== session.id)),
          run: async () => {
            const { trashed_at } = await quipu.sessions.delete(session.id);
            const page = await quipu.operations.list({ limit: 10 }).page();
            const made = page.data.find((one) => one.verb === "delete" && one.at === trashed_at);
            return written(made?.id);
          },
          after: read,
        });
      },
    };
  }, [quipu, queries, act, navigate, open]);
}

/** A deletion of a chat, said as any other write: its operation takes it back. */
function written(operation: string | undefined): Written {
  return {
    message: "",
    memory: null,
    event: {
      type: "session.deleted",
      memory_ids: [],
      operation_id: operation ?? null,
      undo: operation ? { method: "POST", href: `/api/operations/${operation}/undo` } : null,
    },
  } as Written;
}
