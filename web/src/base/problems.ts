/** Texts of errors. */
import { LukasaError } from "lukasa-client";
import { t } from "../i18n/index.ts";
import { adviceFor, explain, titleOf } from "./problem-titles.ts";

/** An error of the console itself, with a translated sentence as its message. */
export class ShownError extends Error {
  override name = "ShownError";
}

/** An error in one sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ShownError) return error.message;
  if (!(error instanceof LukasaError)) return t("shell.problem.title");
  return isUnanswered(error) ? t("shell.problem.unreachable") : titleOf(error);
}

/** An error with the next step, in one text: for toasts, which have no place for more. */
export function explanationOf(error: unknown): string {
  const isAnswer = error instanceof LukasaError && !isUnanswered(error);
  return isAnswer ? explain(error) : sentenceOf(error);
}

/** The next step, unless the sentence contains it already. */
export function adviceOf(error: LukasaError): string {
  // The cause of a connection failure is of interest to the operator only.
  return isUnanswered(error) ? "" : adviceFor(error);
}

export function isUnanswered({ code }: LukasaError): boolean {
  return code === "unreachable" || code === "timeout";
}
