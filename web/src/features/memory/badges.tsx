/** Tier, force and source of a memory as text and icon, never by colour alone. */
import {
  Bot,
  Circle,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePause,
  FileInput,
  MessageCircle,
  Pin,
  Sparkles,
} from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { certaintyOf, type Source } from "../../data/select.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";

const SHAPES = { strong: Circle, tentative: CircleDot, candidate: CircleDashed };

const TONES = { confirmed: "good", unused: "warn", strong: "good", tentative: "warn" } as const;

/** How certain a memory is. With `exceptions`, only what the user should know: likely, a guess, not in use. */
export function Certainty({ memory, exceptions }: { memory: MemoryView; exceptions?: boolean }) {
  const certainty = certaintyOf(memory);
  if (exceptions && (certainty === "confirmed" || certainty === "strong")) return null;
  const Shape =
    certainty === "confirmed"
      ? CircleCheck
      : certainty === "unused"
        ? CirclePause
        : SHAPES[certainty];
  return (
    <Badge tone={certainty === "candidate" ? "plain" : TONES[certainty]}>
      <Shape size={11} aria-hidden fill={certainty === "strong" ? "currentColor" : "none"} />
      {t(`shell.tier.${certainty}`)}
    </Badge>
  );
}

/** A rule has a pin; everything else has no sign. */
export function Force({ force, words }: { force: string; words?: boolean }) {
  const hard = force === "hard";
  const text = t(hard ? "shell.force.hard" : "shell.force.soft");
  const icon = hard ? (
    <Pin size={14} aria-hidden fill="currentColor" className="text-accent-text" />
  ) : null;
  if (words) return <Labelled text={text}>{icon}</Labelled>;
  return icon && <Sign text={text}>{icon}</Sign>;
}

const ICONS = { said: MessageCircle, assistant: Bot, inferred: Sparkles, imported: FileInput };

/** The source of a memory: said, saved by an assistant, inferred, or imported. */
export function SourceIcon({
  source,
  app,
  words,
}: {
  source: Source;
  /** The name of the assistant that saved it. */
  app?: string;
  words?: boolean;
}) {
  const Icon = ICONS[source];
  const text =
    app && source === "assistant" ? t("memory.savedBy", { app }) : t(`shell.origin.${source}`);
  const icon = <Icon size={14} aria-hidden className="text-faint" />;
  if (words) return <Labelled text={text}>{icon}</Labelled>;
  return <Sign text={text}>{icon}</Sign>;
}

function Labelled({ text, children }: { text: string; children: React.ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1">
      {children}
      {text}
    </span>
  );
}

function Sign({ text, children }: { text: string; children: React.ReactNode }) {
  return (
    <Tooltip text={text}>
      <span role="img" aria-label={text} className="inline-flex">
        {children}
      </span>
    </Tooltip>
  );
}
