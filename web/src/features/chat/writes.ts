/** Writes on chats: rename, archive, delete and restore. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import type { SessionView, WriteResult } from "lukasa-client";
import { useMemo } from "react";
import { showFailure } from "../../base/failures.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { hasHiddenTitle } from "../../data/hidden.ts";
import { showChats } from "../../data/sessions.ts";
import { MEMORIES } from "../../data/store.ts";
import { announceUndo, type OwnUndo, sendWithUndo, useWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { liveChats } from "./use-live-chats.ts";

const LIST = ["sessions"];
/** Queries to invalidate after a chat was deleted or restored. */
const TOUCHED = [LIST, ["review"], ["portraits"], MEMORIES];

export function useChatWrites() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useWrite();
  const navigate = useNavigate();
  const { session: open } = useParams({ strict: false });
  return useMemo(() => {
    const show = (change: (chats: SessionView[]) => SessionView[]) => showChats(queries, change);
    const read = () => {
      for (const queryKey of TOUCHED) void queries.invalidateQueries({ queryKey });
    };
    const retitle = async (session: SessionView, title: string) => {
      const hide = show((all) =>
        all.map((one) => (one.id === session.id ? { ...one, title } : one)),
      );
      try {
        await lukasa.sessions.edit(session.id, { title });
        return true;
      } catch (error) {
        hide();
        showFailure(error, { about: title, retry: () => retitle(session, title) });
        return false;
      } finally {
        void queries.invalidateQueries({ queryKey: LIST });
      }
    };
    /** Moves a chat to the archive or back. That is not an operation, so it has an undo of its own. */
    const archive = async (
      session: SessionView,
      title: string,
      archived: boolean,
      isUndo = false,
    ): Promise<void> => {
      const state = archived ? "archived" : "idle";
      const send = async (): Promise<OwnUndo | undefined> => {
        const hide = show((all) =>
          all.map((one) => (one.id === session.id ? { ...one, state } : one)),
        );
        try {
          await lukasa.sessions.edit(session.id, { archived });
        } catch (error) {
          hide();
          const retry = () => archive(session, title, archived, isUndo);
          showFailure(error, { about: title, retry });
          return undefined;
        }
        const text = t(archived ? "chat.archived" : "chat.unarchived");
        return { text, about: title, undo: () => archive(session, title, !archived, true) };
      };
      if (isUndo) {
        const done = await send();
        if (done) showToast({ text: done.text, about: title });
      } else await sendWithUndo(send);
      void queries.invalidateQueries({ queryKey: LIST });
    };
    /** Stops a running answer, and does not close the chat: closing would trigger learning from it. */
    const leave = (session: SessionView) => {
      liveChats.forget(session.id);
      if (session.id === open) void navigate({ to: "/chat" });
    };
    /** Moves a chat to the trash, with what was learned from it alone; the toast says how much that was. */
    const trash = (session: SessionView, title: string) => {
      leave(session);
      return write({
        say: ({ reached }) => deleted(reached),
        about: title,
        show: () => show((all) => all.filter((one) => one.id !== session.id)),
        run: async () => {
          const source = { session_id: session.id };
          const rests = await lukasa.dependents(source).catch(() => undefined);
          const { trashed_at } = await lukasa.sessions.delete(session.id);
          const page = await lukasa.operations.list({ limit: 10 }).page();
          const deletion = page.data.find((one) => one.verb === "delete" && one.at === trashed_at);
          return written(deletion?.id, rests?.reached);
        },
        after: read,
      });
    };
    /** Takes a restoration back. It is the undo of one, and offers no other. */
    const trashAgain = async (session: SessionView, title: string): Promise<void> => {
      leave(session);
      try {
        await lukasa.sessions.delete(session.id);
        showToast({ text: t("shell.undo.undone"), about: title });
      } catch (error) {
        showFailure(error, { about: title, retry: () => trashAgain(session, title) });
      }
      read();
    };
    const restore = async (session: SessionView, title: string): Promise<void> => {
      await sendWithUndo(async () => {
        try {
          await lukasa.sessions.restore(session.id);
        } catch (error) {
          showFailure(error, { about: title, retry: () => restore(session, title) });
          return undefined;
        }
        const undo = () => trashAgain(session, title);
        return { text: t("chat.restored"), about: title, undo };
      });
      read();
    };
    return {
      /** Renaming is not an operation, so it has an undo of its own. An empty title removes the title. */
      async rename(session: SessionView, title: string) {
        // Undo has to write the title itself, not its placeholder.
        const before = hasHiddenTitle(session)
          ? await lukasa.sessions.get(session.id, { show_hidden: true }).catch(() => undefined)
          : session;
        if (!(await retitle(session, title))) return;
        const text = t("chat.renamed");
        if (!before) {
          showToast({ text, about: title });
          return;
        }
        const undo = async () => {
          if (await retitle({ ...session, title }, before.title ?? ""))
            showToast({ text: t("shell.undo.undone"), about: before.title ?? undefined });
        };
        announceUndo({ text, about: title, undo });
      },

      archive,

      delete: trash,

      restore,
    };
  }, [lukasa, queries, write, navigate, open]);
}

/** The toast text: how many memories were deleted with the chat, and how many stay. */
function deleted(reached: WriteResult["reached"]): string {
  const gone = t("chat.deleted", { count: reached?.withdrawn ?? 0 });
  const kept = reached?.kept ?? 0;
  return kept > 0 ? `${gone}. ${t("sources.depends.kept", { count: kept })}` : gone;
}

/** The deletion of a chat as a `WriteResult`, so that `useWrite` can undo it by its operation. */
function written(operation: string | undefined, reached: WriteResult["reached"]): WriteResult {
  return {
    message: "",
    memory: null,
    reached,
    event: {
      type: "session.deleted",
      memory_ids: [],
      operation_id: operation ?? null,
      undo: operation ? { method: "POST", href: `/api/operations/${operation}/undo` } : null,
    },
  } as WriteResult;
}
