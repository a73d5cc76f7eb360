/** The name of a part of the profile in the language of the user. */
import { domainName } from "./domains.ts";
import { known, t } from "./index.ts";

export function portraitName({ name, title }: { name: string; title: string }): string {
  const key = `sources.portrait.${name}`;
  if (known(key)) return t(key);
  const domain = /^domain:(.+)$/.exec(name)?.[1];
  return domain && known(`shell.domain.${domain}`) ? domainName(domain) : title;
}
