/** Summary after the last card: counts, and each answer with undo. */

import { Link } from "@tanstack/react-router";
import { Undo2 } from "lucide-react";
import type { DomainView } from "lukasa-client";
import { useEffect, useRef } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { shownContent } from "../../data/shown-content.ts";
import { domainName } from "../../i18n/domains.ts";
import { listFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Diff } from "../../ui/diff.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import type { useDeck } from "./answers.ts";
import { type Decision, tally } from "./deck.ts";

export function Summary({
  decided,
  deck,
  more,
}: {
  decided: readonly Decision[];
  deck: ReturnType<typeof useDeck>;
  /** How many questions are left that were not in the deck. */
  more: number;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The focused button of the deck was removed; focus the heading.
  useEffect(() => heading.current?.focus(), []);
  const counts = tally(decided).map(([verdict, count]) =>
    t(`review.count.${verdict}`, {
      count: verdict === "opened" ? openedIn(decided).length : count,
    }),
  );
  const summary = listFormat(locale(), { type: "unit" }).format(counts);
  const skipped = decided.some((one) => one.verdict === "skipped");
  useShortcuts(t("review.title"), [
    { keys: "z", label: t("shell.undo.key"), run: () => void deck.undo(), quiet: true },
    ...(skipped ? [{ keys: "r", label: t("review.again"), run: deck.again }] : []),
  ]);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col items-center gap-2 py-8 text-center">
        <h2 ref={heading} tabIndex={-1} className="text-title outline-none">
          {more > 0 ? t("review.more", { count: more }) : t("review.done")}
        </h2>
        <p className="text-muted">{summary}</p>
        <div className="flex flex-wrap justify-center gap-2 pt-2">
          {more > 0 && (
            <Link to="/review" search={{ view: "list" }} className={buttonClasses("primary")}>
              {t("review.asList")}
            </Link>
          )}
          <Link to="/sources" className={buttonClasses()}>
            {t("review.known")}
          </Link>
          {skipped && <Button onClick={deck.again}>{t("review.again")}</Button>}
        </div>
      </div>
      <Card title={t("review.changes")} flush>
        <ul className="divide-y divide-line">
          {decided.map((one) => (
            <li key={one.card.id} className="flex items-start gap-3 px-4 py-2.5">
              <span className="mt-0.5 w-24 shrink-0">
                <Badge tone={one.verdict === "corrected" ? "accent" : "plain"}>
                  {t(`review.did.${one.verdict}`)}
                </Badge>
              </span>
              <span className="min-w-0 flex-1 pt-0.5" dir="auto">
                <Words decision={one} />
              </span>
              <IconButton
                small
                label={t("shell.undo.undo")}
                onClick={() => void deck.takeBack(one)}
              >
                <Undo2 size={14} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

/** The domains that were turned on. */
function openedIn(decided: readonly Decision[]): DomainView[] {
  return decided.flatMap(({ card }) =>
    card.kind === "consent" ? card.domains.filter((domain) => domain.opted_in_at) : [],
  );
}

function Words({ decision }: { decision: Decision }) {
  const { card, words } = decision;
  if (card.kind === "consent") {
    const names = openedIn([decision]).map((domain) => domainName(domain));
    return names.length > 0 ? names.join(", ") : t("review.areas");
  }
  if (words && card.kind === "contradiction") {
    return (
      <>
        <del className="text-muted">{shownContent(card.item.memory)}</del> {words}
      </>
    );
  }
  if (words) return <Diff before={card.item.memory.content} after={words} />;
  return shownContent(card.item.memory);
}
