/** A reference assistant on the gateway, that shows what it remembers and what it uses. */
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Ghost, MessagesSquare, PanelLeft } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ProblemCard } from "../../app/problems.tsx";
import { useShortcuts } from "../../app/shortcuts.tsx";
import type { Mode } from "../../data/gateway.ts";
import { useSessions } from "../../data/sessions.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClasses } from "../../ui/button.tsx";
import { Drawer } from "../../ui/drawer.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu, MenuChoice } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { Select } from "../../ui/select.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { useChatActs } from "./acts.ts";
import { About, Beginning } from "./beginning.tsx";
import { Composer } from "./composer.tsx";
import { isGuide, useAbout, useConversation, useSay } from "./conversation.ts";
import { keepDraft, stopAnswer } from "./live.ts";
import { useModels } from "./models.ts";
import { RoundsView } from "./rounds-view.tsx";
import { Sidebar } from "./sidebar.tsx";
import { useTitle, useTitlesKeptTrue } from "./titles.ts";

export default function ChatPage() {
  const session = useParams({ strict: false }).session ?? null;
  const search = useSearch({ strict: false });
  const mode: Mode = session === null ? (search.mode ?? "on") : "on";
  // What is typed and scrolled belongs to one chat.
  return <Chat key={`${session} ${mode}`} session={session} mode={mode} about={search.about} />;
}

function Chat({ session, mode, about }: { session: string | null; mode: Mode; about?: string }) {
  const models = useModels();
  const chat = useConversation(session, mode);
  const memory = useAbout(about);
  const say = useSay(session, mode, chat, models.model, memory.data);
  const field = useRef<HTMLTextAreaElement>(null);
  const find = useRef<HTMLInputElement>(null);
  const [drawer, setDrawer] = useState(false);
  const [renaming, setRenaming] = useState<string | null>(null);
  const view = useSessions().data?.find((one) => one.id === session);
  const title = useTitle(view);
  useTitlesKeptTrue();
  useChatKeys(session, title, field, find, setRenaming);
  useEffect(() => {
    // The shell leads the focus to the page first. Phones would open their keyboard.
    if (!matchMedia("(pointer: fine)").matches) return;
    const timer = setTimeout(() => field.current?.focus(), 0);
    return () => clearTimeout(timer);
  }, []);
  const suggest = (words: string) => {
    keepDraft(chat.name, words);
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
  const incognito = mode !== "on";
  return (
    <div className="flex min-h-0 flex-1">
      <aside aria-label={t("chat.chats")} className="hidden w-64 shrink-0 border-e lg:block">
        {side()}
      </aside>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Page
          flush
          title={title}
          note={
            incognito && (
              <Badge tone="accent">
                <Ghost size={12} aria-hidden />
                {t("chat.incognito")}
              </Badge>
            )
          }
          actions={
            <>
              <ModeMenu mode={mode} />
              <span className="lg:hidden">
                <IconButton label={t("chat.chats")} onClick={() => setDrawer(true)}>
                  <PanelLeft size={16} aria-hidden className="rtl:-scale-x-100" />
                </IconButton>
              </span>
            </>
          }
        >
          {chat.missing ? (
            <EmptyState
              icon={<MessagesSquare size={20} aria-hidden />}
              title={t("chat.missing")}
              text={t("chat.missingText")}
            />
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
                  again={(words) => void say(words)}
                />
              ) : (
                <Beginning
                  mode={mode}
                  guide={isGuide(models.model)}
                  about={memory.data}
                  suggest={suggest}
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
                  send={(words) => void say(words)}
                  stop={() => stopAnswer(chat.name)}
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
                  {isGuide(models.model) && (
                    <span className="truncate px-1.5 text-xs text-muted">{t("chat.guided")}</span>
                  )}
                </Composer>
                <p className="text-center text-xs text-faint">
                  {incognito ? t(`chat.keeps.${mode}`) : t("chat.disclaimer")}
                </p>
              </div>
            </>
          )}
        </Page>
      </div>
      <Drawer open={drawer} onOpenChange={setDrawer} title={t("chat.chats")} side="start">
        {side(() => setDrawer(false))}
      </Drawer>
    </div>
  );
}

/** Everything that can be done here, by key and in the palette. */
function useChatKeys(
  session: string | null,
  title: string,
  field: React.RefObject<HTMLTextAreaElement | null>,
  find: React.RefObject<HTMLInputElement | null>,
  rename: (session: string) => void,
) {
  const navigate = useNavigate();
  const acts = useChatActs();
  const sessions = useSessions().data ?? [];
  const view = sessions.find((one) => one.id === session);
  const step = (by: number) => {
    const listed = sessions
      .filter((one) => !one.incognito && one.turns > 0)
      .toSorted((a, b) => b.last_turn_at.localeCompare(a.last_turn_at));
    const next = listed[listed.findIndex((one) => one.id === session) + by];
    if (next) void navigate({ to: "/chat/$session", params: { session: next.id } });
  };
  const fresh = () => {
    if (session === null) field.current?.focus();
    void navigate({ to: "/chat" });
  };
  useShortcuts(t("chat.title"), [
    { keys: "n", label: t("chat.new"), run: fresh, first: true },
    { keys: "m", label: t("chat.write"), run: () => field.current?.focus(), quiet: true },
    { keys: "/", label: t("chat.find"), run: () => find.current?.focus(), quiet: true },
    { keys: "j", label: t("chat.next"), run: () => step(1), quiet: true },
    { keys: "k", label: t("chat.previous"), run: () => step(-1), quiet: true },
    {
      keys: "i",
      label: t("chat.incognitoNew"),
      run: () => void navigate({ to: "/chat", search: { mode: "read-only" } }),
    },
    ...(view
      ? [
          { keys: "r", label: t("chat.renameThis"), run: () => rename(view.id) },
          { keys: "d", label: t("chat.deleteThis"), run: () => void acts.delete(view, title) },
        ]
      : []),
  ]);
}

/** How much memory a chat has. Another choice is another chat: this one has been kept, or has not. */
function ModeMenu({ mode }: { mode: Mode }) {
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <button type="button" className={buttonClasses("quiet", true)}>
          <Ghost size={15} aria-hidden />
          <span className="max-sm:sr-only">{t(`chat.mode.${mode}`)}</span>
        </button>
      }
    >
      <MenuChoice<Mode>
        label={t("chat.modeName")}
        value={mode}
        onChange={(chosen) => {
          if (chosen === mode) return;
          void navigate({ to: "/chat", search: chosen === "on" ? {} : { mode: chosen } });
        }}
        choices={[
          { value: "on", text: t("chat.mode.on") },
          { value: "read-only", text: t("chat.mode.read-only") },
          { value: "off", text: t("chat.mode.off") },
        ]}
      />
    </Menu>
  );
}
