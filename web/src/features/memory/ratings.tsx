/** The user's thumbs on a memory. A thumb that is pressed again is taken back. */
import { useQueryClient } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { sentenceOf } from "../../base/problems.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { putMemory } from "../../data/store.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

const THUMBS = [
  { rating: "up", Icon: ThumbsUp },
  { rating: "down", Icon: ThumbsDown },
] as const;

export default function Ratings({ memory, onEdit }: { memory: MemoryView; onEdit: () => void }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const { human } = useSignIn();
  if (!human) return null;
  const rate = async (pressed: "up" | "down") => {
    try {
      const { rating } = await lukasa.memories.rate(
        memory.id,
        memory.rating === pressed ? null : pressed,
      );
      const rated = { ...memory, rating };
      putMemory(queries, rated);
      queries.setQueryData(["memory", memory.id, {}], rated);
    } catch (error) {
      showToast({ text: sentenceOf(error), tone: "bad" });
    }
  };
  return (
    <fieldset className="flex flex-wrap items-center gap-1.5">
      <legend className="sr-only">{t("memory.rate")}</legend>
      {THUMBS.map(({ rating, Icon }) => (
        <Button
          key={rating}
          small
          look="quiet"
          aria-pressed={memory.rating === rating}
          aria-label={t(`memory.rate.${rating}`)}
          onClick={() => void rate(rating)}
        >
          <Icon size={14} aria-hidden fill={memory.rating === rating ? "currentColor" : "none"} />
        </Button>
      ))}
      {memory.rating === "down" && (
        <Button small onClick={onEdit}>
          {t("memory.rate.correct")}
        </Button>
      )}
    </fieldset>
  );
}
