/** One card: the question, the memory, and its evidence. */

import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import { type KeyboardEvent, useState } from "react";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { confirmedAt } from "../../data/confirmed.ts";
import { usePolicy } from "../../data/policy.ts";
import { shownContent } from "../../data/shown-content.ts";
import { Certainty } from "../../features/memory/badges.tsx";
import { EvidenceList, LINK } from "../../features/sources/evidence.tsx";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Textarea } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Switch } from "../../ui/switch.tsx";
import { Time } from "../../ui/time.tsx";
import type { Card } from "./deck.ts";
import { describeDomain } from "./domain-text.ts";

export function CardFace({
  card,
  editing,
  onEdited,
  onChoose,
  onOpen,
}: {
  card: Card;
  editing: boolean;
  /** The new text, or null if unchanged. */
  onEdited: (words: string | null) => void;
  onChoose: (side: 1 | 2) => void;
  onOpen: (domain: string, open: boolean) => void;
}) {
  if (card.kind === "consent") return <ConsentFace card={card} onOpen={onOpen} />;
  const { item } = card;
  if (card.kind === "contradiction" && item.against) {
    return (
      <div className="grid gap-3 sm:grid-cols-2">
        <Side side={1} memory={item.memory} onChoose={onChoose} />
        <Side side={2} memory={item.against} onChoose={onChoose} />
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      {editing ? (
        <Editor memory={item.memory} onEdited={onEdited} />
      ) : (
        <p dir="auto" className="text-title font-normal">
          {shownContent(item.memory)}
        </p>
      )}
      <Meta memory={item.memory} />
      <EvidenceList memory={item.memory} />
      {item.memory.reasoning && (
        <p className="text-meta text-muted">
          {t("review.because")} <bdi>{item.memory.reasoning}</bdi>
        </p>
      )}
    </div>
  );
}

function Meta({ memory }: { memory: MemoryView }) {
  const { timeZone } = usePreferences();
  const confirmed = confirmedAt(memory);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-meta text-muted">
      {memory.domain && <Badge>{domainName(memory.domain)}</Badge>}
      <Certainty memory={memory} exceptions />
      {confirmed ? (
        <span>
          {t("review.confirmed")} <Time at={confirmed} />
        </span>
      ) : (
        <span>{t("review.since", { day: day(memory.valid_from, timeZone) })}</span>
      )}
      <Link to="/sources" search={{ memory: memory.id }} className={LINK}>
        {t("review.sources")}
      </Link>
    </div>
  );
}

function Side({
  side,
  memory,
  onChoose,
}: {
  side: 1 | 2;
  memory: MemoryView;
  onChoose: (side: 1 | 2) => void;
}) {
  const title = t(side === 1 ? "review.side.standing" : "review.side.against");
  return (
    <section
      aria-label={`${side}: ${title}`}
      className="flex flex-col gap-3 rounded-card border bg-canvas p-4 max-sm:gap-1.5 max-sm:p-3"
    >
      <h3 className="text-fine text-muted">{title}</h3>
      <p dir="auto" className="text-lead leading-snug">
        {shownContent(memory)}
      </p>
      <Meta memory={memory} />
      <EvidenceList memory={memory} />
      <Button className="mt-auto" onClick={() => onChoose(side)}>
        {t("review.side.true")}
        <Kbd keys={String(side)} />
      </Button>
    </section>
  );
}

function Editor({
  memory,
  onEdited,
}: {
  memory: MemoryView;
  onEdited: (words: string | null) => void;
}) {
  const [words, setWords] = useState(memory.content);
  const text = words.trim();
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onEdited(null);
    else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (text) onEdited(text === memory.content ? null : text);
    }
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text) onEdited(text === memory.content ? null : text);
      }}
    >
      <Field label={t("review.edit.label")} help={t("review.edit.help")}>
        <Textarea
          autoFocus
          dir="auto"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={press}
          className="text-lead"
        />
      </Field>
      <div className="flex justify-end gap-2">
        <Button small look="quiet" onClick={() => onEdited(null)}>
          {t("shell.cancel")}
          <Kbd keys="Escape" />
        </Button>
        <Button small look="primary" type="submit" disabled={!text}>
          {t("review.edit.save")}
        </Button>
      </div>
    </form>
  );
}

function ConsentFace({
  card,
  onOpen,
}: {
  card: Extract<Card, { kind: "consent" }>;
  onOpen: (domain: string, open: boolean) => void;
}) {
  const consents = usePolicy().data?.consents;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-lead leading-snug">{t("review.consent.text")}</p>
      <ul className="divide-y divide-line rounded-card border">
        {card.domains.map((domain, at) => {
          const { name, text } = describeDomain(domain);
          const inferred =
            domain.admits_inferred || consents?.some((one) => one.domain === domain.name);
          return (
            <li key={domain.name} className="px-4 py-3">
              <Switch
                label={
                  <span className="inline-flex items-center gap-2">
                    {name}
                    <Kbd keys={String(at + 1)} />
                  </span>
                }
                help={inferred ? `${text} ${t("review.consent.inferred")}` : text}
                checked={Boolean(domain.opted_in_at)}
                onChange={(open) => onOpen(domain.name, open)}
              />
            </li>
          );
        })}
      </ul>
      <ul className="flex list-disc flex-col gap-1 ps-5 text-muted">
        <li>{t("review.consent.asks")}</li>
        <li>{t("review.consent.yours")}</li>
        <li>{t("review.consent.past")}</li>
      </ul>
    </div>
  );
}
