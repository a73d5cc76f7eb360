/** Descriptions of sensitive domains. */
import type { DomainView } from "lukasa-client";
import { domainName } from "../../i18n/domains.ts";
import { known, t } from "../../i18n/index.ts";

export function describeDomain(domain: DomainView): { name: string; text: string } {
  const text = `review.domain.${domain.name}.text`;
  return {
    name: domainName(domain),
    text: known(text) ? t(text) : t("review.domain.other.text"),
  };
}
