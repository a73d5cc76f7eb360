/** The list of episodes, and one episode with its turns and dependent memories. */

import { Link, useNavigate } from "@tanstack/react-router";
import { BookOpenText, Trash2 } from "lucide-react";
import type { DependentMemory, EpisodeView } from "lukasa-client";
import { useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { useTurns } from "../../data/sessions.ts";
import { useDependents, useEpisodes, useOneSession } from "../../data/sources.ts";
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
import type { SourcesParams } from "./params.ts";
import { Removal } from "./removal.tsx";

export function Episodes() {
  const episodes = useEpisodes();
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
  return (
    <Card flush>
      <ul className="divide-y divide-line">
        {episodes.data.map((episode) => (
          <li key={episode.id}>
            <Link
              to="/sources"
              search={{ episode: episode.id }}
              className="flex items-baseline gap-3 px-4 py-2.5 text-ink no-underline -outline-offset-2 hover:bg-hover"
            >
              <span className="min-w-0 flex-1" dir="auto">
                {episode.title && <strong className="font-medium">{episode.title}. </strong>}
                {episode.summary}
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
  const episodes = useEpisodes();
  if (episodes.error) {
    return <ProblemCard error={episodes.error} retry={() => void episodes.refetch()} />;
  }
  if (!episodes.data) return <Skeleton rows={3} />;
  const episode = episodes.data.find((one) => one.id === search.episode);
  if (!episode) {
    return <EmptyState title={t("sources.gone")} text={t("sources.missing.deleted")} />;
  }
  return <Episode key={episode.id} episode={episode} search={search} />;
}

function Episode({ episode, search }: { episode: EpisodeView; search: SourcesParams }) {
  const lukasa = useLukasa();
  const write = useWrite();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const title = useTitle(useOneSession(episode.session_id).data);
  const dependents = useDependents({ episode_id: episode.id });
  const from = { portrait: search.portrait, memory: search.memory, episode: episode.id };
  useShortcuts(t("sources.title"), [
    { keys: "d", label: t("sources.depends.open"), run: () => setRemoving(true) },
  ]);
  const remove = () => {
    void navigate({ to: "/sources", search: parentLevel(search) });
    void write({
      say: ({ reached }) => t("sources.deleted", { count: reached?.withdrawn ?? 0 }),
      about: episode.title || episode.summary,
      run: () => lukasa.episodes.delete(episode.id),
    });
  };
  return (
    <div className="flex flex-col gap-4">
      <Card>
        <h2 dir="auto" className="text-title">
          {episode.title || episode.summary}
        </h2>
        {episode.title && (
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
          {removing ? (
            <Removal
              source={{ episode_id: episode.id }}
              onDelete={remove}
              onClose={() => setRemoving(false)}
            />
          ) : (
            <Button small onClick={() => setRemoving(true)}>
              <Trash2 size={14} aria-hidden />
              {t("sources.depends.open")}
              <Kbd keys="d" />
            </Button>
          )}
        </div>
      </Card>
      <Card title={t("sources.cited.turns")}>
        <Turns episode={episode} from={from} memories={dependents.data?.memories ?? NONE} />
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
                  {memory.content}
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
}: {
  episode: EpisodeView;
  from: SourcesParams;
  /** Memories based on these turns; their quotations are marked in them. */
  memories: readonly DependentMemory[];
}) {
  const turns = useTurns(episode.session_id);
  const chat = useOneSession(episode.session_id);
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
          <Quoted text={turn.content} quotes={quotesIn(turn.id, memories)} />
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
