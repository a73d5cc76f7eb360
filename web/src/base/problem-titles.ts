/** What the server's problems mean to the user, in the language of the console. Pure. */
import { isTranslated, known, t } from "../i18n/index.ts";

/** The parts of an error of the server. Its own words are English, and for programs. */
export interface ServerProblem {
  code: string;
  detail: string;
  errors: readonly { detail: string }[];
}

/** The text of a problem by its code, with the next step if there is one, or a general one. */
export function titleOf({ code, errors }: ServerProblem): string {
  const title = t(textKey(code) ?? "shell.problem.refused");
  // Errors of fields are in English.
  const fields = isTranslated() ? "" : errors.map((one) => one.detail).join("; ");
  return fields ? `${title}: ${fields}` : title;
}

/** The server's advice, if the title says nothing about the problem itself. */
export function adviceFor({ code, detail, errors }: ServerProblem): string {
  return isTranslated() || textKey(code) || errors.length > 0 ? "" : detail;
}

function textKey(code: string) {
  const key = `shell.code.${code}`;
  return known(key) ? key : undefined;
}
