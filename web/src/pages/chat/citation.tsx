/** A cited memory in an answer: a link, with a card on hover and on focus that shows what it says. */
import { PreviewCard } from "@base-ui/react/preview-card";
import { Link } from "@tanstack/react-router";
import { BookMarked } from "lucide-react";
import { LukasaError, type MemoryView } from "lukasa-client";
import { useState } from "react";
import { confirmedAt } from "../../data/confirmed.ts";
import { useMemory } from "../../data/memories.ts";
import { sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { Certainty, SourceIcon } from "../../features/memory/badges.tsx";
import { useDomainName } from "../../features/memory/labels.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";

/** `number` counts the memories that the answer cites. */
export function Citation({ id, number }: { id: string; number: number }) {
  const [open, setOpen] = useState(false);
  return (
    <PreviewCard.Root open={open} onOpenChange={setOpen}>
      <PreviewCard.Trigger
        delay={150}
        closeDelay={150}
        render={
          <Link
            to="/memory/$id"
            params={{ id }}
            preload={false}
            aria-label={t("chat.memory", { number })}
            aria-description={t("chat.cited")}
            className="mx-0.5 inline-flex h-5 min-w-6 items-center justify-center gap-1 rounded-full bg-accent-soft px-1.5 align-[-0.2em] text-fine text-accent-text no-underline hover:underline"
          />
        }
      >
        <BookMarked size={11} aria-hidden />
        {number}
      </PreviewCard.Trigger>
      <PreviewCard.Portal>
        <PreviewCard.Positioner sideOffset={6} className="z-50">
          <PreviewCard.Popup className="floating w-80 max-w-[calc(100vw-1.5rem)] rounded-card border bg-surface p-3 shadow-raised">
            {open && <CitedMemory id={id} />}
          </PreviewCard.Popup>
        </PreviewCard.Positioner>
      </PreviewCard.Portal>
    </PreviewCard.Root>
  );
}

function CitedMemory({ id }: { id: string }) {
  const { data: memory, error } = useMemory(id);
  if (error instanceof LukasaError && error.status === 404) {
    return <p className="text-muted italic">{t("chat.erased")}</p>;
  }
  if (!memory) return <p className="text-muted">{t("shell.loading")}</p>;
  return <CitedText memory={memory} />;
}

function CitedText({ memory }: { memory: MemoryView }) {
  const domain = useDomainName(memory.domain);
  const quote = memory.evidence.find((one) => one.description)?.description;
  return (
    <div className="flex flex-col gap-2">
      <p dir="auto" className="font-medium">
        {shownContent(memory)}
      </p>
      {quote && (
        <blockquote
          dir="auto"
          className="line-clamp-3 border-s-2 border-line ps-2.5 text-meta text-muted"
        >
          {quote}
        </blockquote>
      )}
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-meta text-muted">
        {domain && (
          <Badge>
            <bdi>{domain}</bdi>
          </Badge>
        )}
        <Certainty memory={memory} exceptions />
        <SourceIcon source={sourceOf(memory)} words />
        <Time at={confirmedAt(memory) ?? memory.created_at} />
      </p>
    </div>
  );
}
