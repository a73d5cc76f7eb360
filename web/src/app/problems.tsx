/** Error displays: what failed, the next step, and the request id for the server's log. */

import { CircleAlert, CloudOff } from "lucide-react";
import { LukasaError } from "lukasa-client";
import { Component, type ReactNode } from "react";
import { t } from "../i18n/index.ts";
import { Button } from "../ui/button.tsx";
import { useLive } from "./live.tsx";

/** An error in one sentence. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof LukasaError)) return t("shell.problem.title");
  if (error.code === "unreachable" || error.code === "timeout")
    return t("shell.problem.unreachable");
  const fields = fieldsOf(error);
  return fields ? `${error.title}: ${fields}` : error.title;
}

/** The errors of single fields, if the server named any; the rest of its advice is for programs. */
function fieldsOf(error: LukasaError): string {
  return error.errors.map((one) => one.detail).join("; ");
}

/** The next step, unless the sentence contains it already. */
function adviceOf(error: LukasaError): string {
  // The cause of a connection failure is of interest to the operator only.
  const covered =
    error.code === "unreachable" || error.code === "timeout" || fieldsOf(error) !== "";
  return covered ? "" : error.detail;
}

export function ProblemCard({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof LukasaError ? error : undefined;
  return (
    <div role="alert" className="flex gap-3 rounded-card border border-bad/40 bg-bad-soft p-4">
      <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="flex min-w-0 flex-col gap-1.5">
        <p className="font-medium">{sentenceOf(error)}</p>
        {problem && adviceOf(problem) && <p className="text-muted">{adviceOf(problem)}</p>}
        {problem?.requestId && (
          <p className="font-mono text-xs text-muted">
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

/** Banner while the server is not ready. Chats keep working without memory. */
export function OutageBanner() {
  const live = useLive();
  if (live !== "off") return null;
  return (
    <div role="alert" className="flex items-center gap-2.5 border-b bg-warn-soft px-4 py-2 sm:px-6">
      <CloudOff size={16} aria-hidden className="shrink-0 text-warn" />
      <p>
        <strong className="font-medium">{t("shell.outage.title")}</strong> {t("shell.outage.text")}
      </p>
    </div>
  );
}

/** Catches render errors of a page, so that the rest of the console stays usable. */
export class ProblemBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <BrokenPage error={this.state.error} reset={() => this.setState({ error: undefined })} />
    );
  }
}

export function BrokenPage({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <div className="mx-auto flex w-full max-w-lg flex-col gap-3 p-6">
      <h1 className="text-lg font-semibold">{t("shell.problem.page")}</h1>
      <p className="text-muted">{t("shell.problem.pageText")}</p>
      <ProblemCard error={error} retry={reset} />
    </div>
  );
}
