/** What a memory is based on: the words it came from, the summaries and the parts of the profile. */
import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import type { ReactNode } from "react";
import { episodeName } from "../../data/hidden.ts";
import { sourceOf } from "../../data/select.ts";
import { useEpisodes, useEvidence, usePortraits } from "../../data/sources.ts";
import { t } from "../../i18n/index.ts";
import { portraitName } from "../../i18n/portraits.ts";
import { Time } from "../../ui/time.tsx";
import { EvidenceList, LINK } from "../sources/evidence.tsx";
import type { SourceLevels } from "../sources/levels.ts";

export function SourcesPart({ memory, from }: { memory: MemoryView; from: SourceLevels }) {
  const based = memory.evidence.length > 0 || memory.turn_ids.length > 0;
  return (
    <>
      <Section title={t("sources.rests")}>
        {based ? (
          <EvidenceList memory={memory} from={from} />
        ) : (
          <p className="text-muted">
            {t(`memory.provenance.${sourceOf(memory)}`)} <Time at={memory.created_at} />
          </p>
        )}
        {memory.reasoning && (
          <p dir="auto" className="text-muted">
            {memory.reasoning}
          </p>
        )}
      </Section>
      <Summaries memory={memory} from={from} />
      <ProfileParts memory={memory} />
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h3 className="text-fine font-medium text-muted">{title}</h3>
      {children}
    </section>
  );
}

/** The summaries of the messages that the memory came from. */
function Summaries({ memory, from }: { memory: MemoryView; from: SourceLevels }) {
  const evidence = useEvidence(memory);
  const episodes = useEpisodes();
  const turns = (evidence.data ?? []).flatMap(({ turn }) => turn ?? []);
  const there = (episodes.data ?? []).filter((episode) =>
    turns.some(
      (turn) =>
        turn.session_id === episode.session_id &&
        turn.number >= episode.first_turn &&
        turn.number <= episode.last_turn,
    ),
  );
  if (there.length === 0) return null;
  return (
    <Section title={t("sources.happened")}>
      <ul className="flex flex-col gap-1">
        {there.map((episode) => (
          <li key={episode.id}>
            <Link to="/sources" search={{ ...from, episode: episode.id }} className={LINK}>
              <bdi>{episodeName(episode)}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The sentences of the profile that cite the memory. */
function ProfileParts({ memory }: { memory: MemoryView }) {
  const portraits = usePortraits();
  const citing = (portraits.data ?? []).flatMap((portrait) =>
    portrait.sentences
      .filter((sentence) => sentence.memory_ids.includes(memory.id))
      .map((sentence) => ({ portrait, sentence })),
  );
  if (citing.length === 0) return null;
  return (
    <Section title={t("sources.toldIn")}>
      <ul className="flex flex-col gap-2">
        {citing.map(({ portrait, sentence }) => (
          <li key={`${portrait.name} ${sentence.text}`}>
            <Link to="/sources" search={{ portrait: portrait.name }} className={LINK}>
              {portraitName(portrait)}
            </Link>
            <p dir="auto">{sentence.text}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
