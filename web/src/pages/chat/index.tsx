/** Chat page: a reference assistant on the gateway that shows which memories it saves and uses. */
import { useParams, useSearch } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { isGuide, type Mode } from "../../data/gateway.ts";
import { hasHiddenTitle } from "../../data/hidden.ts";
import { useSessions } from "../../data/sessions.ts";
import { useOneSession } from "../../data/sources.ts";
import { useRefreshTitles, useTitle } from "../../data/titles.ts";
import { TrashedChat } from "../../features/chat/trashed-chat.tsx";
import { liveChats } from "../../features/chat/use-live-chats.ts";
import { ModelHelp } from "../../features/model/help.tsx";
import { useModels } from "../../features/model/models.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Drawer } from "../../ui/drawer.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Select } from "../../ui/select.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { Composer } from "./composer.tsx";
import { useAbout, useConversation, useSendMessage } from "./conversation.ts";
import { ChatDigest } from "./digest.tsx";
import { About, EmptyChat } from "./empty-chat.tsx";
import { ChatHeader } from "./header.tsx";
import { useChatKeys } from "./keys.ts";
import { RoundsView } from "./rounds-view.tsx";
import { SaveOffer } from "./save-offer.tsx";
import { Sidebar } from "./sidebar.tsx";

// Loaded when it is first opened.
const WhyDrawer = lazy(() => import("./why-drawer.tsx"));

export default function ChatPage() {
  const session = useParams({ strict: false }).session ?? null;
  const search = useSearch({ strict: false });
  const mode: Mode = session === null ? (search.mode ?? "on") : "on";
  // On the Sources page a parameter of this name is a flag.
  const why = typeof search.why === "number" ? search.why : undefined;
  // The key resets draft and scroll position for each chat.
  return (
    <>
      <Chat key={`${session} ${mode}`} session={session} mode={mode} about={search.about} />
      {session !== null && <WhySheet key={session} session={session} turn={why} />}
    </>
  );
}

/** The drawer, once it was opened. */
function WhySheet({ session, turn }: { session: string; turn?: number }) {
  const [wanted, setWanted] = useState(turn !== undefined);
  if (turn !== undefined && !wanted) setWanted(true);
  if (!wanted) return null;
  return (
    <Suspense>
      <WhyDrawer session={session} turn={turn} />
    </Suspense>
  );
}

function Chat({ session, mode, about }: { session: string | null; mode: Mode; about?: string }) {
  const models = useModels();
  const chat = useConversation(session, mode);
  const memory = useAbout(about);
  const send = useSendMessage(session, mode, chat, models.model, memory.data);
  const latest = useRef(send);
  latest.current = send;
  // A stable callback, or every round would be rendered again with each streamed word.
  const again = useCallback((words: string) => latest.current(words), []);
  const field = useRef<HTMLTextAreaElement>(null);
  const find = useRef<HTMLInputElement>(null);
  const [drawer, setDrawer] = useState(false);
  const [renaming, setRenaming] = useState<string | null>(null);
  const sessions = useSessions();
  const view = sessions.data?.find((one) => one.id === session);
  // A chat in the trash cannot be continued: new messages would be lost.
  const unlisted = useOneSession(sessions.data && !view ? session : null);
  const gone = chat.missing || Boolean(unlisted.data?.trashed_at);
  const [titleShown, setTitleShown] = useState(false);
  const revealed = useOneSession(titleShown ? session : null, true).data;
  const known = useTitle(revealed ?? view);
  // The first words are known before they are stored.
  const title = session !== null && !view?.turns ? (chat.rounds[0]?.asked ?? known) : known;
  useRefreshTitles();
  const wide = () => matchMedia("(min-width: 64rem)").matches;
  useChatKeys(
    session,
    title,
    field,
    () => (wide() ? find.current?.focus() : setDrawer(true)),
    (id) => {
      setRenaming(id);
      if (!wide()) setDrawer(true);
    },
  );
  useEffect(() => {
    // The shell focuses the page first. On phones the focus would open the keyboard.
    if (!matchMedia("(pointer: fine)").matches) return;
    const timer = setTimeout(() => field.current?.focus(), 0);
    return () => clearTimeout(timer);
  }, []);
  const suggest = (words: string) => {
    liveChats.setDraft(chat.name, words);
    setTyped((count) => count + 1);
  };
  const [typed, setTyped] = useState(0);
  useEffect(() => {
    if (typed > 0) field.current?.focus();
  }, [typed]);
  const side = (done?: () => void) => (
    <Sidebar
      open={session}
      find={done ? undefined : find}
      renaming={renaming}
      rename={setRenaming}
      done={done}
    />
  );
  return (
    <div className="flex min-h-0 flex-1">
      <aside aria-label={t("chat.chats")} className="hidden w-64 shrink-0 border-e lg:block">
        {side()}
      </aside>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ChatHeader
          title={title}
          onShowTitle={
            view && hasHiddenTitle(view) && !revealed ? () => setTitleShown(true) : undefined
          }
          mode={mode}
          showChats={() => setDrawer(true)}
        />
        {gone ? (
          <Missing session={session} />
        ) : (
          <>
            {chat.error && (
              <div className="mx-auto w-full max-w-3xl px-4 sm:px-6">
                <ProblemCard error={chat.error} retry={() => void chat.refetch()} />
              </div>
            )}
            {chat.pending && chat.rounds.length === 0 ? (
              <div className="flex-1">
                <Spinner page />
              </div>
            ) : chat.rounds.length > 0 ? (
              <RoundsView
                rounds={chat.rounds}
                session={session}
                cut={chat.cut}
                again={again}
                end={
                  <>
                    {mode === "on" && isGuide(models.model) && (
                      <SaveOffer round={chat.rounds.at(-1)} />
                    )}
                    {view && !chat.answering && <ChatDigest listed={view} />}
                  </>
                }
              />
            ) : (
              <EmptyChat
                mode={mode}
                guide={isGuide(models.model)}
                about={memory.data}
                suggest={suggest}
                choose={models.choose}
              />
            )}
            <div className="mx-auto flex w-full max-w-3xl shrink-0 flex-col gap-1.5 px-4 pb-3 sm:px-6">
              {about && <About id={about} memory={memory.data} error={memory.error} />}
              {models.error && (
                <ProblemCard error={models.error} retry={() => void models.refetch()} />
              )}
              <Composer
                key={typed}
                name={chat.name}
                field={field}
                answering={chat.answering}
                ready={models.model !== undefined && (!about || memory.data !== undefined)}
                send={again}
                stop={() => liveChats.stop(chat.name)}
              >
                {models.model && !isGuide(models.model) && (
                  <div className="w-44 max-w-[45vw]">
                    <Select
                      label={t("chat.model")}
                      value={models.model}
                      choices={models.names.map((name) => ({ value: name, text: name }))}
                      onChange={models.choose}
                    />
                  </div>
                )}
                {isGuide(models.model) && <NoModel choose={models.choose} />}
              </Composer>
              <p className="text-center text-fine text-faint">
                {mode !== "on" && `${t(`chat.keeps.${mode}`)} `}
                {t("chat.disclaimer")}
              </p>
            </div>
          </>
        )}
      </div>
      <Drawer open={drawer} onOpenChange={setDrawer} title={t("chat.chats")} side="start">
        {side(() => setDrawer(false))}
      </Drawer>
    </div>
  );
}

/** Says that no model answers, and opens the way to connect one. */
function NoModel({ choose }: { choose: (model: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small look="quiet" className="min-w-0" onClick={() => setOpen(true)}>
        <span className="truncate">{t("chat.guided")}</span>
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title={t("chat.connectModel")} wide>
        <ModelHelp guide choose={choose} open />
      </Dialog>
    </>
  );
}

/** A chat that cannot be opened: in the trash, or no longer existing. */
function Missing({ session }: { session: string | null }) {
  const chat = useOneSession(session);
  if (chat.error) return <ProblemCard error={chat.error} retry={() => void chat.refetch()} />;
  if (chat.isPending) return <Spinner page />;
  if (chat.data?.trashed_at) return <TrashedChat session={chat.data} />;
  return (
    <EmptyState
      icon={<MessagesSquare size={20} aria-hidden />}
      title={t("chat.missing")}
      text={t("chat.missingText")}
    />
  );
}
