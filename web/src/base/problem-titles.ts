/** Titles of the server's problems in the language of the console. Pure. */
import { isTranslated, known, t } from "../i18n/index.ts";

/** The server's title, or its translation if its code has one. A translation contains the next step. */
export function titleOf({ code, title }: { code: string; title: string }): string {
  const key = `shell.code.${code}`;
  return isTranslated() && known(key) ? t(key) : title;
}
