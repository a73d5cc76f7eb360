/** Numbers as text, in the user's language. Pure. */
import { numberFormat } from "../i18n/formats.ts";
import { locale } from "../i18n/index.ts";

/** A whole number with the separators of the language, such as "3,000" or "3.000". */
export function formatCount(count: number): string {
  return numberFormat(locale()).format(count);
}

/** A share between 0 and 1 in percent, such as "70%" or "70 %". */
export function percent(share: number): string {
  return numberFormat(locale(), { style: "percent" }).format(share);
}
