/** Words that are hidden because they are about a domain that is off, and what is shown in their place. Pure. */
import type { EpisodeView, SessionView, TurnView } from "lukasa-client";
import { domainName } from "../i18n/domains.ts";
import { t } from "../i18n/index.ts";

type Hideable = Pick<SessionView, "title" | "hidden_domain">;

/** Whether the title is hidden: the server has a placeholder for words about a domain that is off. */
export function hasHiddenTitle({ title, hidden_domain }: Hideable): boolean {
  return Boolean(hidden_domain) && title === `[hidden: the domain ${hidden_domain} is not open]`;
}

/** The stored title, or that it is hidden. */
export function shownTitle(session: Hideable): string | undefined {
  if (!hasHiddenTitle(session)) return session.title || undefined;
  return t("chat.hiddenTitle", { domain: domainName(session.hidden_domain ?? "") });
}

/** The name of a summary, or that it is hidden. */
export function episodeName({ title, summary, hidden_domain }: EpisodeView): string {
  if (hidden_domain) return t("sources.hidden", { domain: domainName(hidden_domain) });
  return title || summary;
}

/** The text of a turn, unless it is about a domain that is off. */
export function visibleText(turn: TurnView | undefined): string {
  return turn && !turn.hidden_domain ? turn.content : "";
}

/** The text of a turn, or that it is hidden. */
export function turnText(turn: TurnView): string {
  return isHidden(turn)
    ? t("sources.hidden", { domain: domainName(turn.hidden_domain ?? "") })
    : turn.content;
}

/** Whether the text of a turn is hidden, because it is about a domain that is off. */
export function isHidden(turn: TurnView): boolean {
  return Boolean(turn.hidden_domain);
}
