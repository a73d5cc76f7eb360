/** Texts of errors. */
import { LukasaError } from "lukasa-client";
import { t } from "../i18n/index.ts";
import { adviceFor, titleOf } from "./problem-titles.ts";

/** An error of the console itself, with a translated sentence as its message. */
export class ShownError extends Error {
  override name = "ShownError";
}

/** An error in one sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ShownError) return error.message;
  if (!(error instanceof LukasaError)) return t("shell.problem.title");
  if (error.code === "unreachable" || error.code === "timeout")
    return t("shell.problem.unreachable");
  return titleOf(error);
}

/** The next step, unless the sentence contains it already. */
export function adviceOf(error: LukasaError): string {
  // The cause of a connection failure is of interest to the operator only.
  const unanswered = error.code === "unreachable" || error.code === "timeout";
  return unanswered ? "" : adviceFor(error);
}
