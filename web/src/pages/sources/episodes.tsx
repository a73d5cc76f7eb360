/** The list of episodes, and one episode with its turns and dependent memories. */

import { Link, useNavigate } from "@tanstack/react-router";
import { BookOpenText, EyeOff, Pencil, Trash2 } from "lucide-react";
import type { DependentMemory, EpisodeView } from "lukasa-client";
import { useEffect, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { currentEpisode, rememberEpisode } from "../../data/episode-successor.ts";
import { episodeName, turnText } from "../../data/hidden.ts";
import { useTurns } from "../../data/sessions.ts";
import { shownContent } from "../../data/shown-content.ts";
import {
  useEpisodeDependents,
  useEpisodes,
  useOneSession,
  useReplaceEpisode,
} from "../../data/sources.ts";
import { useTitle } from "../../data/titles.ts";
import { useWrite } from "../../data/writes.ts";
import { LINK, Quoted, quotesIn, useCaption } from "../../features/sources/evidence.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { parentLevel } from "./breadcrumb.tsx";
import { EpisodeForm, type EpisodeWords } from "./episode-form.tsx";
import type { SourcesParams } from "./params.ts";
import { Removal } from "./removal.tsx";

export function Episodes() {
  const [showHidden, setShowHidden] = useState(false);
  const episodes = useEpisodes(undefined, showHidden);
  if (episodes.error) {
    return <ProblemCard error={episodes.error} retry={() => void episodes.refetch()} />;
  }
  if (!episodes.data) return <Skeleton />;
  if (episodes.data.length === 0) {
    return (
      <EmptyState
        icon={<BookOpenText size={20} aria-hidden />}
        title={t("sources.episodes.empty")}
        text={t("sources.episodes.emptyText")}
      />
    );
  }
  const hidden = episodes.data.filter((episode) => episode.hidden_domain).length;
  return (
    <Card flush>
      {hidden > 0 && (
        <p className="flex flex-wrap items-center gap-x-2 border-b px-4 py-1.5 text-muted">
          <EyeOff size={14} aria-hidden className="shrink-0 text-faint" />
          {t("sources.episodes.hidden", { count: hidden })}
          <Button small look="quiet" onClick={() => setShowHidden(true)}>
            {t("sources.showHidden")}
          </Button>
        </p>
      )}
      <ul className="divide-y divide-line">
        {episodes.data.map((episode) => (
          <li key={episode.id}>
            <Link
              to="/sources"
              search={{ episode: episode.id }}
              className="flex items-baseline gap-3 px-4 py-2.5 text-ink no-underline -outline-offset-2 hover:bg-hover"
            >
              <span className="min-w-0 flex-1" dir="auto">
                {episode.hidden_domain ? (
                  <span className="text-muted">{episodeName(episode)}</span>
                ) : (
                  <>
                    {episode.title && <strong className="font-medium">{episode.title}. </strong>}
                    {episode.summary}
                  </>
                )}
              </span>
              <span className="text-meta text-muted">
                <Time at={episode.started_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function EpisodeLevel({ search }: { search: SourcesParams & { episode: string } }) {
  const [showHidden, setShowHidden] = useState(false);
  const navigate = useNavigate();
  const episodes = useEpisodes(undefined, showHidden);
  const episode = currentEpisode(search.episode, episodes.data ?? []);
  const id = episode?.id;
  // The address of an episode that was replaced.
  const isReplaced = id !== undefined && id !== search.episode;
  useEffect(() => {
    if (episode) rememberEpisode(episode);
  }, [episode]);
  useEffect(() => {
    if (isReplaced)
      void navigate({ to: "/sources", search: { ...search, episode: id }, replace: true });
  }, [isReplaced, id, search, navigate]);
  if (episodes.error) {
    return <ProblemCard error={episodes.error} retry={() => void episodes.refetch()} />;
  }
  if (!episodes.data) return <Skeleton rows={3} />;
  if (!episode) {
    return <EmptyState title={t("sources.gone")} text={t("sources.missing.deleted")} />;
  }
  return (
    <Episode
      key={episode.id}
      episode={episode}
      listedAt={episodes.dataUpdatedAt}
      search={search}
      showHidden={showHidden}
      onShow={() => setShowHidden(true)}
    />
  );
}

function Episode({
  episode,
  listedAt,
  search,
  showHidden,
  onShow,
}: {
  episode: EpisodeView;
  /** When the list with this episode was read. */
  listedAt: number;
  search: SourcesParams;
  showHidden: boolean;
  /** Shows hidden text about domains that are off. */
  onShow: () => void;
}) {
  const lukasa = useLukasa();
  const replace = useReplaceEpisode();
  const write = useWrite();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const [editing, setEditing] = useState(false);
  const title = useTitle(useOneSession(episode.session_id, showHidden).data);
  const dependents = useEpisodeDependents(episode.id, listedAt);
  const from = { portrait: search.portrait, memory: search.memory, episode: episode.id };
  useShortcuts(t("sources.title"), [
    { keys: "d", label: t("sources.depends.open"), run: () => setRemoving(true) },
    {
      keys: "e",
      label: t("sources.episodes.edit"),
      run: () => setEditing(!episode.hidden_domain),
    },
  ]);
  const save = async (words: EpisodeWords) => {
    let edited: EpisodeView | undefined;
    const written = await write({
      say: t("sources.episodes.saved"),
      about: words.summary,
      run: async () => {
        const { episode: one, event } = await lukasa.episodes.update(episode.id, words);
        edited = one;
        return { memory: null, event, message: "" };
      },
    });
    if (!written || !edited) return;
    setEditing(false);
    // It has another id, which the level above puts into the address.
    await replace(episode.id, edited);
  };
  const remove = () => {
    void navigate({ to: "/sources", search: parentLevel(search) });
    void write({
      say: ({ reached }) => t("sources.deleted", { count: reached?.withdrawn ?? 0 }),
      about: episodeName(episode),
      run: () => lukasa.episodes.delete(episode.id),
    });
  };
  return (
    <div className="flex flex-col gap-4">
      <Card>
        <h2 dir="auto" className="text-title">
          {episodeName(episode)}
          {episode.hidden_domain && (
            <Button
              small
              look="quiet"
              aria-label={t("sources.episodes.show")}
              className="ms-2"
              onClick={onShow}
            >
              {t("sources.showHidden")}
            </Button>
          )}
        </h2>
        {episode.title && !episode.hidden_domain && (
          <p dir="auto" className="max-w-prose pt-1">
            {episode.summary}
          </p>
        )}
        <p className="flex flex-wrap items-center gap-x-3 pt-2 text-meta text-muted">
          <Time at={episode.started_at} absolute />
          <Link
            to="/sources"
            search={{ ...from, session: episode.session_id, turn: episode.first_turn }}
            className={LINK}
          >
            <bdi>{t("sources.inChat", { title })}</bdi>
          </Link>
        </p>
        <div className="pt-3">
          {editing ? (
            <EpisodeForm
              episode={episode}
              onSave={(words) => void save(words)}
              onClose={() => setEditing(false)}
            />
          ) : removing ? (
            <Removal
              source={{ episode_id: episode.id }}
              onDelete={remove}
              onClose={() => setRemoving(false)}
            />
          ) : (
            <div className="flex flex-wrap gap-2">
              {!episode.hidden_domain && (
                <Button small onClick={() => setEditing(true)}>
                  <Pencil size={14} aria-hidden />
                  {t("sources.episodes.edit")}
                  <Kbd keys="e" />
                </Button>
              )}
              <Button small onClick={() => setRemoving(true)}>
                <Trash2 size={14} aria-hidden />
                {t("sources.depends.open")}
                <Kbd keys="d" />
              </Button>
            </div>
          )}
        </div>
      </Card>
      <Card title={t("sources.cited.turns")}>
        <Turns
          episode={episode}
          from={from}
          memories={dependents.data?.memories ?? NONE}
          showHidden={showHidden}
        />
      </Card>
      {(dependents.data?.memories.length ?? 0) > 0 && (
        <Card title={t("sources.learned")} flush>
          <ul className="divide-y divide-line">
            {dependents.data?.memories.map(({ memory }) => (
              <li key={memory.id}>
                <Link
                  to="/sources"
                  search={{ memory: memory.id }}
                  dir="auto"
                  className="block px-4 py-2 text-ink no-underline -outline-offset-2 hover:bg-hover"
                >
                  {shownContent(memory)}
                </Link>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

const NONE: readonly DependentMemory[] = [];

function Turns({
  episode,
  from,
  memories,
  showHidden,
}: {
  episode: EpisodeView;
  from: SourcesParams;
  /** Memories based on these turns; their quotations are marked in them. */
  memories: readonly DependentMemory[];
  showHidden: boolean;
}) {
  const turns = useTurns(episode.session_id, showHidden);
  const chat = useOneSession(episode.session_id, showHidden);
  const title = useTitle(chat.data);
  const captionOf = useCaption();
  const shown = (turns.data ?? []).filter(
    (turn) => turn.number >= episode.first_turn && turn.number <= episode.last_turn,
  );
  if (turns.isPending) return <p className="text-muted">{t("shell.loading")}</p>;
  if (shown.length === 0) {
    const policy = chat.data && chat.data.keep_turns !== "full";
    return (
      <p className="text-muted">
        {t(policy ? "sources.missing.policy" : "sources.missing.deleted")}
      </p>
    );
  }
  return (
    <ul className="flex flex-col gap-3">
      {shown.map((turn) => (
        <li key={turn.id} className="border-s-2 border-line ps-3">
          <Quoted text={turnText(turn)} quotes={quotesIn(turn.id, memories)} />
          <p className="text-meta text-muted">
            <Link
              to="/sources"
              search={{ ...from, session: turn.session_id, turn: turn.number }}
              className={LINK}
            >
              <bdi>{captionOf(turn, title)}</bdi>
            </Link>
          </p>
        </li>
      ))}
    </ul>
  );
}
