/** When something goes wrong: what, why, what next, and the id under which the server's log has it. */

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

/** What is wrong with what was sent, if the server said so; its advice where to look is for programs. */
function fieldsOf(error: LukasaError): string {
  return error.errors.map((one) => one.detail).join("; ");
}

/** What to do next, where the sentence does not say it already. */
function adviceOf(error: LukasaError): string {
  // Why nobody answers is for whoever runs it.
  const said = error.code === "unreachable" || error.code === "timeout" || fieldsOf(error) !== "";
  return said ? "" : error.detail;
}

export function ProblemCard({ error, retry }: { error: unknown; retry?: () => void }) {
  const told = error instanceof LukasaError ? error : undefined;
  return (
    <div role="alert" className="flex gap-3 rounded-card border border-bad/40 bg-bad-soft p-4">
      <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="flex min-w-0 flex-col gap-1.5">
        <p className="font-medium">{sentenceOf(error)}</p>
        {told && adviceOf(told) && <p className="text-muted">{adviceOf(told)}</p>}
        {told?.requestId && (
          <p className="font-mono text-xs text-muted">
            {t("shell.problem.request", { id: told.requestId })}
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

/** The whole memory does not answer. Chats go on without it, and this says so. */
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

/** Catches what a page throws while it is drawn, so that the rest of the console stays. */
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
