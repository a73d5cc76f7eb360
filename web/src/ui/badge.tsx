import type { ReactNode } from "react";
import { classes } from "./classes.ts";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

export const TONES: Record<Tone, string> = {
  plain: "bg-sunken text-muted border-line",
  accent: "bg-accent-soft text-accent-text border-transparent",
  good: "bg-good-soft text-good border-transparent",
  warn: "bg-warn-soft text-warn border-transparent",
  bad: "bg-bad-soft text-bad border-transparent",
};

/** A short label: a word or a number. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classes(
        "inline-flex h-5 items-center gap-1 rounded-full border px-1.5 text-fine whitespace-nowrap tabular-nums",
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}
