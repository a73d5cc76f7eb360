/** What was learned from a chat and what was not, each with one click to change it. */
import { useQueryClient } from "@tanstack/react-query";
import type { MemoryView, SessionView } from "lukasa-client";
import { useEffect } from "react";
import { useMemories } from "../../data/memories.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { useProposalWrites } from "../../data/proposals.ts";
import { newest, sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { useOneSession, usePasses } from "../../data/sources.ts";
import { LearningState, LearnNow, LeftOut } from "../../features/learning/learning.tsx";
import { Certainty } from "../../features/memory/badges.tsx";
import { labelFor } from "../../features/memory/labels.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";

/** States in which there is nothing to say: no message yet, or learning is not possible. */
const SILENT = ["nothing", "no_model", "waiting_for_model", "off"];
/** Statuses of what was learned and not removed. */
const SHOWN = ["active", "proposed", "candidate"];

export function ChatDigest({ listed }: { listed: SessionView }) {
  const session = useOneSession(listed.id).data ?? listed;
  const { learning } = session;
  if (!learning || session.incognito || (SILENT.includes(learning.state) && !learning.learned_at)) {
    return null;
  }
  return <Digest session={session} learning={learning} />;
}

function Digest({
  session,
  learning: { learned_at },
}: {
  session: SessionView;
  learning: NonNullable<SessionView["learning"]>;
}) {
  const queries = useQueryClient();
  const passes = usePasses(session.id);
  const { all } = useMemories();
  // A pass that learned nothing has no event.
  useEffect(() => {
    if (learned_at) void queries.invalidateQueries({ queryKey: ["sessions", "passes"] });
  }, [queries, learned_at]);
  const learned = newest(
    all.filter(
      (memory) =>
        memory.session_id === session.id &&
        SHOWN.includes(memory.status) &&
        sourceOf(memory) === "inferred",
    ),
  );
  const left = (passes.data ?? []).filter((pass) => pass.left_out.length > 0);
  return (
    <section aria-label={t("chat.digest.title")} className="rounded-card border bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
        <h2 className="sr-only">{t("chat.digest.title")}</h2>
        <div className="min-w-0 flex-1">
          <LearningState session={session} />
        </div>
        <LearnNow session={session} />
      </header>
      {learned.length > 0 && (
        <div className="border-t">
          <h3 className="px-4 pt-2 text-fine text-muted">{t("chat.digest.learned")}</h3>
          <ul className="divide-y divide-line">
            {learned.map((memory) => (
              <LearnedItem key={memory.id} memory={memory} />
            ))}
          </ul>
        </div>
      )}
      {left.length > 0 && (
        <div className="border-t">
          <LeftOut passes={left} />
        </div>
      )}
    </section>
  );
}

function LearnedItem({ memory }: { memory: MemoryView }) {
  const writes = useMemoryWrites();
  const proposals = useProposalWrites();
  const proposed = memory.status === "proposed";
  const isGuess = memory.status === "candidate";
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <span dir="auto" className="min-w-0 flex-1 basis-56">
        {shownContent(memory)}
      </span>
      {proposed ? (
        <Badge tone="accent">{labelFor("status", memory.status)}</Badge>
      ) : (
        <Certainty memory={memory} exceptions />
      )}
      <span className="flex gap-1.5">
        {(proposed || isGuess) && (
          <Button
            small
            onClick={() => void (proposed ? proposals.accept(memory) : writes.confirm(memory))}
          >
            {t("sources.leftOut.keep")}
          </Button>
        )}
        <Button
          small
          look="quiet"
          onClick={() => void (proposed ? proposals.reject(memory) : writes.forget(memory))}
        >
          {t("memory.act.forget")}
        </Button>
      </span>
    </li>
  );
}
