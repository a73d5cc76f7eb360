/** What waits to be done in the background, and what was given up and can be tried again. */
import type { JobView } from "@quipu/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ProblemCard, sentenceOf } from "../../app/problems.tsx";
import { useQuipu } from "../../app/sign-in.tsx";
import { known, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";

const OFTEN = 5_000;
const TONES = { dead: "bad", running: "accent", waiting: "plain" } as const;

export function Jobs() {
  const quipu = useQuipu();
  const queries = useQueryClient();
  const jobs = useQuery({
    queryKey: ["jobs"],
    queryFn: ({ signal }) => quipu.learning.jobs({ signal }),
    refetchInterval: OFTEN,
  });
  const retry = async (job: JobView) => {
    try {
      await quipu.learning.retry(job.id);
      showToast({ text: t("settings.jobs.retried") });
    } catch (error) {
      showToast({ text: sentenceOf(error), tone: "bad" });
    }
    await queries.invalidateQueries({ queryKey: ["jobs"] });
  };
  const words = (prefix: "kind" | "state", value: string) => {
    const key = `settings.jobs.${prefix}.${value}`;
    return known(key) ? t(key) : value;
  };
  return (
    <Card flush title={t("settings.jobs.title")}>
      {jobs.error && <ProblemCard error={jobs.error} retry={() => void jobs.refetch()} />}
      {jobs.isPending && <Skeleton rows={3} />}
      {jobs.data?.length === 0 && (
        <p className="max-w-prose p-4 text-muted">{t("settings.jobs.none")}</p>
      )}
      <ul aria-label={t("settings.jobs.title")} className="divide-y divide-line">
        {jobs.data?.map((job) => (
          <li key={job.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
            <div className="min-w-0 flex-1 basis-64">
              <div className="flex flex-wrap items-center gap-2">
                {words("kind", job.kind)}
                <Badge tone={TONES[job.state as keyof typeof TONES] ?? "plain"}>
                  {words("state", job.state)}
                </Badge>
                {job.attempts > 0 && (
                  <span className="text-[0.8125rem] text-muted">
                    {t("settings.jobs.attempts", { count: job.attempts })}
                  </span>
                )}
              </div>
              {job.last_error && (
                <div dir="auto" className="text-[0.8125rem] text-muted">
                  {job.last_error}
                </div>
              )}
            </div>
            <span className="text-[0.8125rem] text-muted">
              <Time at={job.state === "waiting" ? job.run_at : job.queued_at} />
            </span>
            {job.state === "dead" && (
              <Button small onClick={() => void retry(job)}>
                {t("shell.retry")}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
