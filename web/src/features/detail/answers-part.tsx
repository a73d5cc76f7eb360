/** The answers that used a memory. */
import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import { turnText } from "../../data/hidden.ts";
import { useAnswers } from "../../data/sources.ts";
import { t } from "../../i18n/index.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { LINK, Quoted, useCaption } from "../sources/evidence.tsx";

const NO_QUOTES: readonly string[] = [];

export function AnswersPart({ memory }: { memory: MemoryView }) {
  const answers = useAnswers(memory.id);
  const captionOf = useCaption();
  if (answers.error) return <ProblemCard error={answers.error} />;
  if (!answers.data) return <Skeleton rows={2} />;
  const list = answers.data;
  if (list.length === 0) return <p className="text-muted">{t("sources.usedNowhere")}</p>;
  return (
    <>
      <h3 className="text-fine font-medium text-muted">
        {t("sources.usedIn", { count: list.length })}
      </h3>
      <ul className="flex flex-col gap-3">
        {list.map(({ usage, turn, session }) => (
          <li key={usage.turn_id} className="border-s-2 border-line ps-3">
            {turn ? (
              <>
                <Quoted text={turnText(turn)} quotes={NO_QUOTES} />
                <p className="text-meta text-muted">
                  <Link
                    to="/sources"
                    search={{ session: turn.session_id, turn: turn.number, why: true }}
                    className={LINK}
                  >
                    <bdi>{captionOf(turn, session?.title ?? undefined)}</bdi>
                  </Link>
                </p>
              </>
            ) : (
              <p className="text-meta text-muted">
                {t("sources.missing.deleted")} <Time at={usage.at} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
