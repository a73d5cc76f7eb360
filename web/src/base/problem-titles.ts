/** What the server's problems mean to the user, in the language of the console. Pure. */
import { isTranslated, known, t } from "../i18n/index.ts";

/** The parts of an error of the server. Its own words are English, and for programs. */
export interface ServerProblem {
  code: string;
  status: number;
  title: string;
  detail: string;
  errors: readonly { detail: string }[];
}

/** The text of a problem by its code, with the next step if there is one, or a general one. */
export function titleOf(problem: ServerProblem): string {
  const general = problem.status >= 500 ? "shell.problem.title" : "shell.problem.refused";
  const title = t(textKey(problem.code) ?? general);
  const fields = isTranslated() ? "" : fieldsOf(problem);
  return fields ? `${title}: ${fields}` : title;
}

/** The server's own words, apart from the title, if they say more than it does. */
export function adviceFor(problem: ServerProblem): string {
  const fields = fieldsOf(problem);
  if (fields) return isTranslated() ? fields : "";
  return textKey(problem.code) ? "" : problem.detail || problem.title;
}

/** Both in one text, for a place with a single line. */
export function explain(problem: ServerProblem): string {
  const advice = adviceFor(problem);
  return advice ? `${titleOf(problem).replace(/\.$/, "")}. ${advice}` : titleOf(problem);
}

function fieldsOf({ errors }: ServerProblem): string {
  return errors.map((one) => one.detail).join("; ");
}

function textKey(code: string) {
  const key = `shell.code.${code}`;
  return known(key) ? key : undefined;
}
