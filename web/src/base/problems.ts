/** Texts of errors. */
import { LukasaError } from "lukasa-client";
import { t } from "../i18n/index.ts";
import { titleOf } from "./problem-titles.ts";

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
  const fields = fieldsOf(error);
  const title = titleOf(error);
  return fields ? `${title}: ${fields}` : title;
}

/** The errors of single fields, if the server named any; the rest of its advice is for programs. */
function fieldsOf(error: LukasaError): string {
  return error.errors.map((one) => one.detail).join("; ");
}

/** The next step, unless the sentence contains it already. */
export function adviceOf(error: LukasaError): string {
  // The cause of a connection failure is of interest to the operator only.
  const covered =
    error.code === "unreachable" || error.code === "timeout" || fieldsOf(error) !== "";
  // A translation contains the next step, which the server gives in English.
  return covered || titleOf(error) !== error.title ? "" : error.detail;
}
