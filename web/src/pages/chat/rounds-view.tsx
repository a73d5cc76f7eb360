/** The rounds of a chat. The view follows a streamed answer unless the user has scrolled away. */

import { ArrowDown, FoldVertical } from "lucide-react";
import type { WindowView } from "lukasa-client";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Round } from "../../features/chat/rounds.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Fold } from "./calls.tsx";
import { OneRound } from "./round.tsx";

/** Distance from the end, in pixels, within which the view keeps following. */
const FOLLOW_DISTANCE_PX = 80;

export function RoundsView({
  rounds,
  session,
  cut,
  again,
  end,
}: {
  rounds: readonly Round[];
  session: string | null;
  cut: WindowView | undefined;
  again: (words: string) => void;
  /** Shown after the last round. */
  end?: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = () => {
    following.current = true;
    place.current?.scrollTo({ top: place.current.scrollHeight });
  };
  const last = rounds.at(-1);
  const begun = last?.state === "asking" ? last.key : undefined;
  // Scroll to the end when the user sends a message.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for a new message
  useLayoutEffect(toEnd, [begun]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever rounds change
  useLayoutEffect(() => {
    if (following.current) toEnd();
  }, [rounds]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const look = () => {
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      following.current = left < FOLLOW_DISTANCE_PX;
      setAway(left > element.clientHeight / 2);
    };
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, []);
  const from = cut?.turns[0]?.number ?? 0;
  const at = cut ? rounds.findIndex((round) => (round.turn ?? from) >= from) : -1;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={place}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t("chat.log")}
        className="h-full overflow-y-auto -outline-offset-2"
      >
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-8 px-4 pt-4 pb-8 sm:px-6">
          {rounds.map((round, index) => (
            <div key={round.key} className="flex flex-col gap-8">
              {cut && index === at && <WindowBoundary cut={cut} />}
              <OneRound round={round} session={session} again={again} />
            </div>
          ))}
          {end}
        </div>
      </div>
      {away && (
        <div className="absolute inset-x-0 bottom-2 flex justify-center">
          <Button small onClick={toEnd} className="shadow-raised">
            <ArrowDown size={13} aria-hidden />
            {t("chat.toEnd")}
          </Button>
        </div>
      )}
      <Announcer last={last} />
    </div>
  );
}

/** Marks where the model's context window begins: earlier messages are summarized or left out. */
function WindowBoundary({ cut }: { cut: WindowView }) {
  return (
    <div className="rounded-card border border-dashed px-3.5 py-2">
      <Fold
        icon={<FoldVertical size={14} aria-hidden />}
        line={t(cut.summary ? "chat.cut" : "chat.cutOff", { count: cut.left_out })}
      >
        <p className="text-muted">{t("chat.cutText")}</p>
        <p dir="auto" className="pt-2 whitespace-pre-wrap">
          {cut.summary ?? t("chat.cutWaiting")}
        </p>
      </Fold>
    </div>
  );
}

/** Announces to screen readers that an answer is coming, and then the answer. */
function Announcer({ last }: { last: Round | undefined }) {
  const [watched, setWatched] = useState<string>();
  const under = last && (last.state === "asking" || last.state === "answering");
  useEffect(() => {
    if (under) setWatched(last.key);
  }, [under, last?.key]);
  const done = last && last.key === watched && !under;
  return (
    <output className="sr-only">
      {under ? t("chat.thinking") : done ? last.answer || t("chat.stopped") : ""}
    </output>
  );
}
