/** One round of a chat: the message, the memory calls, the answer, and the memories used. */
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, memo, Suspense } from "react";
import { showFailure } from "../../base/failures.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { useDomains } from "../../data/domains.ts";
import type { Call, Round } from "../../features/chat/rounds.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { isWrite, ToolCall } from "./calls.tsx";
import { MemoryLine } from "./memory-line.tsx";
import { AnswerText } from "./text.tsx";

const KeepReply = lazy(() => import("./keep-reply.tsx"));

export const OneRound = memo(function OneRound({
  round,
  session,
  again,
}: {
  round: Round;
  /** The stored session; null for an incognito chat. */
  session: string | null;
  /** Sends the same message again. */
  again: (words: string) => void;
}) {
  const { asked, answer, calls, state } = round;
  const open = calls.filter((call) => !isWrite(call));
  const writes = calls.filter(isWrite);
  return (
    <article aria-label={t("chat.round")} className="flex flex-col gap-4">
      {asked !== null && (
        <div className="flex justify-end">
          <h2 className="sr-only">{t("chat.you")}</h2>
          <p
            dir="auto"
            className="max-w-[85%] rounded-card rounded-ee-sm bg-active px-3.5 py-2 whitespace-pre-wrap"
          >
            {asked}
          </p>
        </div>
      )}
      <div className="flex flex-col gap-2" aria-busy={state === "asking" || state === "answering"}>
        <h2 className="sr-only">{t("chat.assistant")}</h2>
        {open.map((call) => (
          <div key={call.id}>
            <ToolCall call={call} />
            {call.failed && call.shut && (
              <OpenDomain
                domain={call.shut}
                again={asked === null ? undefined : () => again(asked)}
              />
            )}
          </div>
        ))}
        {answer && <AnswerText text={answer} marks={round.marks} />}
        {(state === "asking" || (state === "answering" && !answer)) &&
          !calls.some((call) => call.running) && <Thinking />}
        {state === "failed" && (
          <ProblemCard
            error={round.error}
            retry={asked === null ? undefined : () => again(asked)}
          />
        )}
        <AnswerFooter round={round} session={session} writes={writes} />
      </div>
    </article>
  );
});

function Thinking() {
  return (
    <p className="flex min-h-small items-center gap-1.5 text-muted">
      <span aria-hidden className="pulse-soft size-2 rounded-full bg-accent" />
      <span className="text-meta">{t("chat.thinking")}</span>
    </p>
  );
}

/** The footer of an answer: writes, available memories, and degraded state. */
function AnswerFooter({
  round,
  session,
  writes,
}: {
  round: Round;
  session: string | null;
  writes: readonly Call[];
}) {
  const over = round.state === "done" || round.state === "stopped";
  const used = over && round.given > 0;
  const words = t("chat.used", { count: round.given });
  const stored = over && round.answer && session !== null && round.turn !== null;
  const silent = writes.length === 0 && !used && round.degraded.length === 0;
  if (silent && !stored && round.state !== "stopped") {
    return null;
  }
  return (
    <div className="flex flex-col gap-0.5">
      {writes.map((call) => (
        <MemoryLine key={call.id} call={call} />
      ))}
      <div className="flex flex-wrap items-center gap-x-3 text-meta text-muted">
        {round.state === "stopped" && <span>{t("chat.stopped")}</span>}
        {used &&
          (session !== null && round.turn !== null ? (
            <Link
              to="/chat/$session"
              params={{ session }}
              search={{ why: round.turn }}
              className="inline-flex min-h-6 pointer-coarse:min-h-11 items-center text-muted underline decoration-line underline-offset-2 hover:text-ink"
            >
              {words}
            </Link>
          ) : (
            <span>{t("memory.count", { count: round.given })}</span>
          ))}
        {round.degraded.length > 0 && (
          <span title={round.degraded.join(", ")}>{t("chat.degraded")}</span>
        )}
        {stored && session !== null && round.turn !== null && (
          <Suspense>
            <KeepReply session={session} turn={round.turn} />
          </Suspense>
        )}
      </div>
    </div>
  );
}

/** A notice that nothing was saved because a domain is off, with a button to turn it on. */
function OpenDomain({
  domain: name,
  again,
}: {
  domain: string;
  /** Sends the same message again. */
  again: (() => void) | undefined;
}) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const { human } = useSignIn();
  const found = useDomains().data?.find((one) => one.name === name);
  if (!human) return null;
  const domain = domainName(found ?? name);
  const open = async () => {
    try {
      await lukasa.domains.open(name);
      await queries.invalidateQueries({ queryKey: ["domains"] });
    } catch (error) {
      showFailure(error, { about: domain, retry: open });
    }
  };
  return (
    <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-card border bg-surface px-3.5 py-2.5">
      <p aria-live="polite" className="min-w-0 flex-1">
        {t(found?.opted_in_at ? "chat.opened" : "chat.shut", { domain })}
      </p>
      {!found?.opted_in_at ? (
        <Button small onClick={() => void open()}>
          {t("chat.open", { domain })}
        </Button>
      ) : (
        again && (
          <Button small onClick={again}>
            {t("chat.sayAgain")}
          </Button>
        )
      )}
    </div>
  );
}
