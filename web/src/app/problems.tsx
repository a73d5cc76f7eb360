/** Error displays of the shell: outages, and pages that fail to render. */

import { CloudOff } from "lucide-react";
import { Component, type ReactNode } from "react";
import { useLive } from "../base/live.ts";
import { t } from "../i18n/index.ts";
import { ProblemCard } from "../ui/problem-card.tsx";

/** Banner while the server cannot be reached, or is without its database: chats then work without memory. */
export function OutageBanner() {
  const live = useLive();
  if (live !== "off" && live !== "unreachable") return null;
  const what = live === "off" ? "outage" : "unreachable";
  return (
    <div role="alert" className="flex items-center gap-2.5 border-b bg-warn-soft px-4 py-2 sm:px-6">
      <CloudOff size={16} aria-hidden className="shrink-0 text-warn" />
      <p>
        <strong className="font-medium">{t(`shell.${what}.title`)}</strong>{" "}
        {t(`shell.${what}.text`)}
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
      <h1 className="text-title">{t("shell.problem.page")}</h1>
      <p className="text-muted">{t("shell.problem.pageText")}</p>
      <ProblemCard error={error} retry={reset} />
    </div>
  );
}
