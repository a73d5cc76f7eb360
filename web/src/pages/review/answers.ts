/** Answers to cards: removed from the deck at once, sent, announced, and put back by undo or a refusal. */

import { useQueryClient } from "@tanstack/react-query";
import type { ReviewView, WriteResult } from "lukasa-client";
import { useRef, useState } from "react";
import { useLiveEvent } from "../../base/live.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { REVIEW } from "../../data/review.ts";
import { putItem } from "../../data/review-counts.ts";
import { shownContent } from "../../data/shown-content.ts";
import { isLatestWrite, useBatchWrite, useUndoLatest, useWrite } from "../../data/writes.ts";
import { dayOf } from "../../features/memory/labels.ts";
import { domainName } from "../../i18n/domains.ts";
import { listFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import type { Consent } from "./consent.ts";
import { changeRuns } from "./contradictions.ts";
import type { Card, Decision, Verdict } from "./deck.ts";

type AnswerableCard = Exclude<Card, { kind: "consent" }>;

/** The server's question about a memory whose use turned out wrong. */
const REFUTED = "Using this turned out wrong. Is it still true?";

function question(card: Card): string {
  if (card.kind === "consent" && card.mentioned.length > 0) {
    const names = card.mentioned.map((domain) => domainName(domain));
    const list = listFormat(locale(), { type: "conjunction" }).format(names);
    return t("review.question.mentioned", { names: list, count: names.length });
  }
  return card.kind === "outdated" && card.item.question === REFUTED
    ? t("review.question.refuted")
    : t(`review.question.${card.kind}`);
}

export function useDeck(consent: Consent) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const write = useWrite();
  const writeAll = useBatchWrite();
  const undoLatest = useUndoLatest();
  const [decided, setDecided] = useState<readonly Decision[]>([]);
  const [result, setResult] = useState("");

  const numbers = useRef(0);

  const without = ({ number }: Decision) =>
    setDecided((all) => all.filter((one) => one.number !== number));
  const decide = (card: Card, verdict: Verdict, words?: string): Decision => {
    numbers.current += 1;
    const decision = { number: numbers.current, card, verdict, words };
    setDecided((all) => [...all.filter((one) => one.card.id !== card.id), decision]);
    setResult(t(`review.did.${verdict}`));
    return decision;
  };
  /** Puts a card back on top before the server lists it again, unless it was answered again meanwhile. */
  const putBack = (decision: Decision) => {
    without(decision);
    const { card } = decision;
    if (card.kind === "consent") return;
    queries.setQueryData<ReviewView>(REVIEW, (view) => putItem(view, card.item));
  };
  /** Puts back a card whose answer was refused. The error toast is announced in place of the result. */
  const refuse = (decision: Decision) => {
    setResult("");
    without(decision);
  };
  const send = async (
    card: AnswerableCard,
    verdict: Verdict,
    run: () => Promise<WriteResult>,
    words?: string,
  ) => {
    const decision = decide(card, verdict, words);
    const say = t(`review.did.${verdict}`);
    const written = await write({ say, about: words ?? shownContent(card.item.memory), run });
    if (!written) return refuse(decision);
    const operation = written.event.operation_id ?? undefined;
    setDecided((all) =>
      all.map((one) => (one.number === decision.number ? { ...one, operation } : one)),
    );
    // Refetch the list also without live events.
    void queries.invalidateQueries({ queryKey: REVIEW });
  };

  // An answer may also be undone from its toast, or elsewhere.
  useLiveEvent(({ operation }) => {
    const undone = decided.find((one) => one.operation && one.operation === operation.undoes);
    if (undone) without(undone);
  });

  return {
    decided,
    keep: (card: Card) => {
      if (card.kind !== "consent" && card.kind !== "contradiction") {
        void send(card, "kept", () => lukasa.review.answer(card.item.yes));
      }
    },
    forget: (card: Card) => {
      if (card.kind === "consent") {
        void consent.decline();
        decide(card, "never");
      } else if (card.kind !== "contradiction") {
        void send(card, "forgotten", () => lukasa.review.answer(card.item.no));
      }
    },
    skip: (card: Card) => {
      const opened = card.kind === "consent" && card.domains.some((one) => one.opted_in_at);
      decide(card, opened ? "opened" : "skipped");
    },
    edit: (card: Card, words: string) => {
      if (card.kind === "consent") return;
      const { id, sha256 } = card.item.memory;
      const run = sha256
        ? () => lukasa.memories.confirm(id, { sha256, edits: { content: words } })
        : () =>
            lukasa.memories.update(id, {
              content: words,
              // An old statement may have changed; a wrong extraction was never true.
              mode: card.kind === "outdated" ? "change" : "correction",
            });
      void send(card, "corrected", run, words);
    },
    choose: (card: Card, side: 1 | 2) => {
      if (card.kind !== "contradiction") return;
      const { yes, no, against } = card.item;
      if (side === 1) void send(card, "kept", () => lukasa.review.answer(yes));
      else
        void send(
          card,
          "corrected",
          () => lukasa.review.answer(no),
          against ? shownContent(against) : undefined,
        );
    },
    /** Keeps both sides of a contradiction. */
    keepBoth: (card: Card) => {
      if (card.kind !== "contradiction") return;
      const { both } = card.item;
      if (both) void send(card, "kept", () => lukasa.review.answer(both));
    },
    /** Both sides were true, one after the other: the first ended on a day, and the second began. */
    changed: async (card: Card, on: string) => {
      if (card.kind !== "contradiction") return;
      const { against } = card.item;
      if (!against) return;
      const decision = decide(card, "corrected", shownContent(against));
      const operations: string[] = [];
      await writeAll({
        say: t("review.did.changed", { day: dayOf(on, null) }),
        about: shownContent(against),
        inOrder: true,
        runs: changeRuns(lukasa, card.item, on),
        after: ({ event }) => event.operation_id && operations.push(event.operation_id),
      });
      const [operation, ...later] = operations;
      if (!operation) {
        refuse(decision);
        // The first answer may have removed the card from the list before it was undone.
        putBack(decision);
        void queries.invalidateQueries({ queryKey: REVIEW });
        return;
      }
      setDecided((all) =>
        all.map((one) =>
          one.number === decision.number ? { ...one, operation, later: later.reverse() } : one,
        ),
      );
      void queries.invalidateQueries({ queryKey: REVIEW });
    },
    open: (name: string, open: boolean) => consent.open(name, open),
    /** Undoes the latest decision, or the latest write made elsewhere if that is newer. */
    undo: async () => {
      const last = decided.at(-1);
      if (!last) return undoLatest();
      const isWritten = ["kept", "forgotten", "corrected"].includes(last.verdict);
      if (isWritten && !isLatestWrite(last.operation)) return undoLatest();
      setResult(t("shell.undo.undone"));
      if (isWritten) await undoLatest();
      putBack(last);
    },
    /** Undoes one decision. */
    takeBack: async (decision: Decision) => {
      const { operation, later = [] } = decision;
      if (operation) {
        const done = await write({
          say: t("shell.undo.undone"),
          run: async () => {
            for (const one of later) await lukasa.operations.undo(one);
            return lukasa.operations.undo(operation);
          },
        });
        if (!done) return;
      }
      putBack(decision);
    },
    again: () => setDecided((all) => all.filter((one) => one.verdict !== "skipped")),
    question,
    /** Text for screen readers: the result of the last card, and the next question. */
    announcement: (card: Card | undefined, at: number, of: number) => {
      if (!card) return result;
      const words =
        card.kind === "consent"
          ? t("review.consent.text")
          : card.kind === "contradiction"
            ? t("review.announceSides", {
                first: shownContent(card.item.memory),
                second: card.item.against ? shownContent(card.item.against) : "",
              })
            : shownContent(card.item.memory);
      const place = t("review.place", { at, of });
      return `${result ? `${result}. ` : ""}${place}. ${question(card)} ${words}`;
    },
  };
}
