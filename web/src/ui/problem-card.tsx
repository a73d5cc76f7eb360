/** An error: what failed, the next step, and the request id for the server's log. */
import { CircleAlert } from "lucide-react";
import { LukasaError } from "lukasa-client";
import { adviceOf, sentenceOf } from "../base/problems.ts";
import { t } from "../i18n/index.ts";
import { Button } from "./button.tsx";

export function ProblemCard({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof LukasaError ? error : undefined;
  return (
    <div role="alert" className="flex gap-3 rounded-card border border-bad/40 bg-bad-soft p-4">
      <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="flex min-w-0 flex-col gap-1.5">
        <p className="font-medium">{sentenceOf(error)}</p>
        {problem && adviceOf(problem) && <p className="text-muted">{adviceOf(problem)}</p>}
        {problem?.requestId && (
          <p className="font-mono text-fine text-muted">
            {t("shell.problem.request", { id: problem.requestId })}
          </p>
        )}
        {retry && (
          <div className="pt-1">
            <Button small onClick={retry}>
              {t("shell.retry")}
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}
