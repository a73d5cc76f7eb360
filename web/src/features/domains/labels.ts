/** Names and descriptions of sensitive domains. */
import type { DomainView } from "lukasa-client";
import { known, t } from "../../i18n/index.ts";

export function describeDomain(domain: DomainView): { name: string; text: string } {
  const name = `review.domain.${domain.name}`;
  const text = `review.domain.${domain.name}.text`;
  return {
    name: known(name) ? t(name) : domain.display_name,
    text: known(text) ? t(text) : t("review.domain.other.text"),
  };
}
