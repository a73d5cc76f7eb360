/** The types of message keys and translations, derived from the English messages. */
import type { en } from "./en/index.ts";

export type Catalogues = typeof en;
/** All message keys: the page, a dot, the name. */
export type Key = {
  [Page in keyof Catalogues & string]: `${Page}.${keyof Catalogues[Page] & string}`;
}[keyof Catalogues & string];
/** A translation may lack messages: English is the fallback, and a test lists what is missing. */
export type Translation = {
  [Page in keyof Catalogues]: Partial<Record<keyof Catalogues[Page], string>>;
};
