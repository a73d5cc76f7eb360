/** Toasts of failed changes: what was not saved, why, and a button that tries again. */
import { LukasaError } from "lukasa-client";
import { t } from "../i18n/index.ts";
import { explanationOf, isUnanswered } from "./problems.ts";
import { showToast } from "./toasts.ts";

/** Statuses after which the same request may succeed, besides those of the server itself. */
const RETRYABLE = new Set([408, 425, 429]);

function isRetryable(error: unknown): boolean {
  if (!(error instanceof LukasaError)) return false;
  return isUnanswered(error) || error.status >= 500 || RETRYABLE.has(error.status);
}

export interface Failure {
  /** What could not be done, such as "Could not forget this". */
  what?: string;
  /** The text that the change was about. */
  about?: string;
  /** Sends the same change again. It is offered if it may succeed, and the toast then stays. */
  retry?: () => unknown;
}

export function showFailure(error: unknown, { what, about, retry }: Failure): void {
  showToast({
    text: t("shell.failed", { what: what ?? t("shell.failed.change"), why: explanationOf(error) }),
    about,
    tone: "bad",
    action:
      retry && isRetryable(error)
        ? { label: t("shell.retry"), run: () => void retry() }
        : undefined,
  });
}
