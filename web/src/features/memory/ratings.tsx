/** The user's thumbs on a memory. A thumb that is pressed again is taken back. */

import { useQueryClient } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { showFailure } from "../../base/failures.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { shownContent } from "../../data/shown-content.ts";
import { changeMemory } from "../../data/store.ts";
import { announceUndo } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

type Rating = "up" | "down" | null;

const THUMBS = [
  { rating: "up", Icon: ThumbsUp },
  { rating: "down", Icon: ThumbsDown },
] as const;

export default function Ratings({ memory, onEdit }: { memory: MemoryView; onEdit: () => void }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const { human } = useSignIn();
  if (!human) return null;
  /** Sets the rating. A rating is not an operation of the log, so its undo sets the previous one. */
  const rate = async (wanted: Rating, previous?: Rating) => {
    try {
      const { rating } = await lukasa.memories.rate(memory.id, wanted);
      // Only the rating: the memory may have changed since the click.
      changeMemory(queries, memory.id, { rating });
      const about = shownContent(memory);
      if (previous === undefined) showToast({ text: t("shell.undo.undone"), about });
      else {
        const text = t(`memory.rate.did.${wanted ?? "none"}`);
        announceUndo({ text, about, undo: () => rate(previous) });
      }
    } catch (error) {
      showFailure(error, { about: shownContent(memory), retry: () => rate(wanted, previous) });
    }
  };
  const now = THUMBS.find(({ rating }) => rating === memory.rating)?.rating ?? null;
  return (
    <fieldset className="ms-auto -me-2 flex flex-wrap items-center gap-0.5">
      <legend className="sr-only">{t("memory.rate")}</legend>
      {THUMBS.map(({ rating, Icon }) => (
        <Button
          key={rating}
          small
          look="quiet"
          aria-pressed={now === rating}
          aria-label={t(`memory.rate.${rating}`)}
          onClick={() => void rate(now === rating ? null : rating, now)}
        >
          <Icon size={14} aria-hidden fill={now === rating ? "currentColor" : "none"} />
        </Button>
      ))}
      {now === "down" && (
        <Button small onClick={onEdit}>
          {t("memory.rate.correct")}
        </Button>
      )}
    </fieldset>
  );
}
