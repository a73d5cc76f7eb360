/** Tier, force and source of a memory as text and icon, never by colour alone. */
import {
  Bot,
  Circle,
  CircleDashed,
  CircleDot,
  FileInput,
  Lock,
  LockOpen,
  MessageCircle,
  Sparkles,
} from "lucide-react";
import type { Source } from "../../data/select.ts";
import { known, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";

const SHAPES = { strong: Circle, tentative: CircleDot, candidate: CircleDashed };

/** The tier of a memory: strong, tentative or candidate. */
export function Tier({ tier }: { tier: string }) {
  const Shape = SHAPES[tier as keyof typeof SHAPES] ?? CircleDashed;
  const key = `shell.tier.${tier}`;
  return (
    <Badge tone={tier === "strong" ? "good" : tier === "tentative" ? "warn" : "plain"}>
      <Shape size={11} aria-hidden fill={tier === "strong" ? "currentColor" : "none"} />
      {known(key) ? t(key) : tier}
    </Badge>
  );
}

/** A hard memory is a rule (a filled lock), a soft one context for judgment (an open one). */
export function Force({ force, words }: { force: string; words?: boolean }) {
  const hard = force === "hard";
  const text = t(hard ? "shell.force.hard" : "shell.force.soft");
  const icon = hard ? (
    <Lock size={14} aria-hidden fill="currentColor" className="text-accent-text" />
  ) : (
    <LockOpen size={14} aria-hidden className="text-faint" />
  );
  if (words) {
    return (
      <span className="inline-flex items-center gap-1">
        {icon}
        {text}
      </span>
    );
  }
  return <Sign text={text}>{icon}</Sign>;
}

const ICONS = { said: MessageCircle, assistant: Bot, inferred: Sparkles, imported: FileInput };

/** The source of a memory: said, saved by an assistant, inferred, or imported. */
export function SourceIcon({ source, words }: { source: Source; words?: boolean }) {
  const Icon = ICONS[source];
  const text = t(`shell.origin.${source}`);
  const icon = <Icon size={14} aria-hidden className="text-faint" />;
  if (words) {
    return (
      <span className="inline-flex items-center gap-1">
        {icon}
        {text}
      </span>
    );
  }
  return <Sign text={text}>{icon}</Sign>;
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
