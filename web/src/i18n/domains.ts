/** Names of areas (domains in the API): the built-in ones are translated, others keep the name they were given. */
import { known, t } from "./index.ts";

interface NamedDomain {
  name: string;
  display_name: string;
  builtin: boolean;
}

/** The name of an area, or of its id alone, which may be unknown to this console. */
export function domainName(domain: NamedDomain | string): string {
  const key = `shell.domain.${typeof domain === "string" ? domain : domain.name}`;
  if (typeof domain === "string") return known(key) ? t(key) : domain;
  return domain.builtin && known(key) ? t(key) : domain.display_name;
}
