/** Background jobs, and retrying failed ones. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { JobView } from "lukasa-client";
import { useState } from "react";
import { explanationOf } from "../../base/problems.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { useSessions } from "../../data/sessions.ts";
import { useTitle } from "../../data/titles.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";

const REFETCH_INTERVAL_MS = 5_000;
const TONES = { dead: "bad", running: "accent", waiting: "plain" } as const;

export function Jobs() {
  const lukasa = useLukasa();
  const signIn = useSignIn();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const jobs = useQuery({
    queryKey: ["jobs"],
    queryFn: ({ signal }) => lukasa.learning.jobs({ signal }),
    refetchInterval: REFETCH_INTERVAL_MS,
  });
  const retry = async (some: readonly JobView[]) => {
    setBusy(true);
    try {
      for (const job of some) await lukasa.learning.retry(job.id);
      showToast({ text: t("developer.jobs.retried", { count: some.length }) });
    } catch (error) {
      showToast({ text: explanationOf(error), tone: "bad" });
    }
    await queries.invalidateQueries({ queryKey: ["jobs"] });
    setBusy(false);
  };
  const dead = jobs.data?.filter((job) => job.state === "dead") ?? [];
  return (
    <Card
      flush
      title={t("developer.jobs.title")}
      actions={
        dead.length > 1 && (
          <Button small busy={busy} onClick={() => void retry(dead)}>
            {t("developer.jobs.all", { count: dead.length })}
          </Button>
        )
      }
    >
      {jobs.error && (
        <div className="p-3">
          <ProblemCard error={jobs.error} retry={() => void jobs.refetch()} />
        </div>
      )}
      {jobs.isPending && <Skeleton rows={3} />}
      {jobs.data?.length === 0 && (
        <p className="max-w-prose p-4 text-muted">{t("developer.jobs.none")}</p>
      )}
      <ul
        aria-label={t("developer.jobs.title")}
        tabIndex={-1}
        className="divide-y divide-line -outline-offset-2"
      >
        {jobs.data?.map((job) => (
          <Job key={job.id} job={job} onRetry={() => void retry([job])} />
        ))}
      </ul>
      {signIn.admin && (
        <p className="border-t px-4 py-3 text-meta text-muted">
          {t("developer.jobs.allUsers")} <code className="font-mono">lukasa doctor --fix</code>
        </p>
      )}
    </Card>
  );
}

function Job({ job, onRetry }: { job: JobView; onRetry: () => void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-64">
        <div className="flex flex-wrap items-center gap-2">
          {words("kind", job.kind)}
          <Badge tone={TONES[job.state as keyof typeof TONES] ?? "plain"}>
            {words("state", job.state)}
          </Badge>
          {job.attempts > 0 && (
            <span className="text-meta text-muted">
              {t("developer.jobs.attempts", { count: job.attempts })}
            </span>
          )}
        </div>
        {job.session_id && <Chat session={job.session_id} />}
        {job.last_error && (
          <div dir="auto" className="text-meta text-muted">
            {job.last_error}
          </div>
        )}
      </div>
      <span className="text-meta text-muted">
        <Time at={job.state === "waiting" ? job.run_at : job.queued_at} />
      </span>
      {job.state === "dead" && (
        <Button
          small
          onClick={(event) => {
            // The button is removed, so move the focus to the list for keyboard users.
            event.currentTarget.closest("ul")?.focus();
            onRetry();
          }}
        >
          {t("shell.retry")}
        </Button>
      )}
    </li>
  );
}

/** A link to the chat of a job. */
function Chat({ session }: { session: string }) {
  const sessions = useSessions();
  const found = sessions.data?.find((one) => one.id === session);
  const title = useTitle(found);
  return (
    <Link
      to="/sources"
      search={{ view: "chats", session }}
      className="block max-w-full truncate text-meta text-muted underline-offset-2 hover:underline"
    >
      <bdi>{found ? title : session}</bdi>
    </Link>
  );
}

function words(prefix: "kind" | "state", value: string): string {
  const key = `developer.jobs.${prefix}.${value}`;
  return nameText(key, value);
}
