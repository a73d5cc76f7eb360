/** Review page: a deck of cards, each answered with one key and undone with Z. */

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowDown, ArrowLeft, ArrowRight, Check, Inbox, Pencil } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useReview, useUnlisted } from "../../data/review.ts";
import { shownContent } from "../../data/shown-content.ts";
import { domainName } from "../../i18n/domains.ts";
import { review } from "../../i18n/en/review.ts";
import { numberFormat } from "../../i18n/formats.ts";
import { addMessages, known, locale, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { classes } from "../../ui/classes.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useSwipe } from "../../ui/swipe.ts";
import { useDeck } from "./answers.ts";
import { CardFace } from "./card.tsx";
import { ChangedOn } from "./changed-on.tsx";
import { useConsent } from "./consent.ts";
import { type Card, cardsOf, type Decision, KINDS, type Kind, remainingCards } from "./deck.ts";
import { Invitation } from "./invitation.tsx";
import { ReviewList } from "./list.tsx";
import { Summary } from "./summary.tsx";

addMessages({ review });

const route = getRouteApi("/review");

export default function ReviewPage() {
  const { kind, view } = route.useSearch();
  const asked = useReview();
  const consent = useConsent(kind === "consent");
  const deck = useDeck(consent);
  const cards = useMemo(
    () => cardsOf(asked.data ?? [], consent.domains, consent.mentioned),
    [asked.data, consent.domains, consent.mentioned],
  );
  const open = remainingCards(cards, deck.decided);
  const pending = kind ? open.filter((card) => card.kind === kind) : open;
  const decided = deck.decided.filter((one) => !kind || one.card.kind === kind);
  const card = pending[0];
  const unlisted = useUnlisted();
  const more = [...unlisted].reduce(
    (sum, [one, count]) => sum + (!kind || one === kind ? count : 0),
    0,
  );
  const at = decided.length + 1;
  const of = decided.length + pending.length + more;
  return (
    <Page
      title={t("review.title")}
      layout="reading"
      actions={<ViewSwitch kind={kind} view={view} />}
    >
      {view === "list" && <ReviewList kind={kind} />}
      {asked.error && <ProblemCard error={asked.error} retry={() => void asked.refetch()} />}
      {view !== "list" && asked.isPending && <Skeleton />}
      {view !== "list" && asked.data && (
        <div className="flex flex-col gap-4">
          <Invitation />
          <Kinds cards={open} decided={deck.decided} unlisted={unlisted} chosen={kind} />
          {card ? (
            <Deck card={card} deck={deck} at={at} of={of} />
          ) : decided.length > 0 ? (
            <Summary decided={decided} deck={deck} more={more} />
          ) : (
            <EmptyState
              icon={<Inbox size={20} aria-hidden />}
              title={t("review.empty.title")}
              text={t("review.empty.text")}
              next={[
                {
                  text: t("review.empty.known"),
                  action: (
                    <Link to="/sources" className={buttonClasses("plain", true)}>
                      {t("shell.page.profile")}
                    </Link>
                  ),
                },
                {
                  text: t("review.empty.areas"),
                  action: (
                    <Link
                      to="/review"
                      search={{ kind: "consent" }}
                      className={buttonClasses("plain", true)}
                    >
                      {t("review.areas")}
                    </Link>
                  ),
                },
              ]}
            />
          )}
          <output className="sr-only">{deck.announcement(card, at, of)}</output>
        </div>
      )}
    </Page>
  );
}

/** One card at a time, or a list for many at once. */
function ViewSwitch({ kind, view }: { kind?: Kind; view?: "list" }) {
  const navigate = useNavigate();
  const show = (wanted?: "list") =>
    void navigate({ to: "/review", search: { kind, view: wanted }, replace: true });
  return (
    <fieldset className="flex gap-1.5">
      <legend className="sr-only">{t("review.view")}</legend>
      <Chip pressed={!view} onPress={() => show()}>
        {t("review.view.cards")}
      </Chip>
      <Chip pressed={view === "list"} onPress={() => show("list")}>
        {t("review.view.list")}
      </Chip>
    </fieldset>
  );
}

/** Filter by kind; hidden while there is only one. A kind keeps its place when its last card is answered. */
function Kinds({
  cards,
  decided,
  unlisted,
  chosen,
}: {
  cards: readonly Card[];
  decided: readonly Decision[];
  /** How many more of each kind there are. */
  unlisted: ReadonlyMap<string, number>;
  chosen?: Kind;
}) {
  const navigate = useNavigate();
  const number = numberFormat(locale());
  const countOf = (kind: Kind) =>
    cards.filter((card) => card.kind === kind).length + (unlisted.get(kind) ?? 0);
  const seen = new Set([...cards, ...decided.map(({ card }) => card)].map(({ kind }) => kind));
  const there = KINDS.filter((kind) => seen.has(kind) || countOf(kind) > 0);
  if (there.length < 2 && !chosen) return null;
  const choose = (kind?: Kind) => void navigate({ to: "/review", search: { kind }, replace: true });
  return (
    <fieldset className="-m-1 flex gap-1.5 overflow-x-auto p-1 *:shrink-0 *:whitespace-nowrap sm:flex-wrap">
      <legend className="sr-only">{t("review.kinds")}</legend>
      <Chip pressed={!chosen} onPress={() => choose()}>
        {t("review.kind.all")}
      </Chip>
      {there.map((kind) => (
        <Chip key={kind} pressed={chosen === kind} onPress={() => choose(kind)}>
          {t(`review.kind.${kind}`)}
          <span className="tabular-nums">{number.format(countOf(kind))}</span>
        </Chip>
      ))}
    </fieldset>
  );
}

/** The words of an answer fit the question of the card. */
function answerLabel(answer: "keep" | "forget", kind: Kind): string {
  const key = `review.act.${answer}.${kind}`;
  return known(key) ? t(key) : t(`review.act.${answer}`);
}

function Deck({
  card,
  deck,
  at,
  of,
}: {
  card: Card;
  deck: ReturnType<typeof useDeck>;
  at: number;
  of: number;
}) {
  const [editing, setEditing] = useState<string>();
  const [dating, setDating] = useState<string>();
  const face = useRef<HTMLElement>(null);
  const isEditing = editing === card.id;
  const consent = card.kind === "consent";
  const sides = card.kind === "contradiction";
  const opened = consent && card.domains.some((domain) => domain.opted_in_at);
  const choose = (side: 1 | 2) => deck.choose(card, side);
  const open = (name: string, wanted: boolean) => void deck.open(name, wanted);
  const edited = (words: string | null) => {
    setEditing(undefined);
    // The focused element was removed; focus the card, so that shortcuts keep working.
    face.current?.focus();
    if (words !== null) deck.edit(card, words);
  };
  const actions = {
    keep: { keys: "ArrowRight", label: answerLabel("keep", card.kind), run: () => deck.keep(card) },
    forget: {
      keys: "ArrowLeft",
      label: consent ? t("review.act.never") : answerLabel("forget", card.kind),
      run: () => deck.forget(card),
    },
    skip: {
      keys: "ArrowDown",
      label: t(opened ? "review.act.done" : consent ? "review.act.notNow" : "review.act.skip"),
      run: () => deck.skip(card),
    },
    edit: { keys: "e", label: t("review.act.edit"), run: () => setEditing(card.id) },
    both: { keys: "3", label: t("review.side.both"), run: () => deck.keepBoth(card) },
    changed: { keys: "4", label: t("review.side.changed"), run: () => setDating(card.id) },
  };
  const swipe = useSwipe(
    sides || consent || isEditing ? null : { left: actions.forget.run, right: actions.keep.run },
  );
  useShortcuts(t("review.title"), [
    ...(sides || consent ? [] : [actions.keep]),
    ...(sides ? [] : [actions.forget]),
    actions.skip,
    ...(sides || consent ? [] : [actions.edit]),
    ...(sides
      ? ([1, 2] as const).map((side) => ({
          keys: String(side),
          label: t("review.side.choose", { side }),
          run: () => choose(side),
        }))
      : []),
    ...(sides ? [actions.both, actions.changed] : []),
    ...(consent
      ? card.domains.map((domain, place) => ({
          keys: String(place + 1),
          label: t("review.consent.open", { name: domainName(domain) }),
          run: () => open(domain.name, !domain.opted_in_at),
        }))
      : []),
    { keys: "z", label: t("shell.undo.key"), run: () => void deck.undo(), quiet: true },
  ]);
  return (
    <>
      <div className="flex items-center gap-3 text-meta text-muted">
        <progress
          aria-label={t("review.progress")}
          max={of}
          value={at - 1}
          className="h-1 flex-1 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        />
        <span className="tabular-nums">{t("review.place", { at, of })}</span>
      </div>
      <section
        ref={face}
        key={card.id}
        tabIndex={-1}
        aria-labelledby="review-question"
        {...swipe.handlers}
        style={swipe.shift ? { translate: `${swipe.shift}px`, transition: "none" } : undefined}
        // Its height is fixed, so that the buttons below stay where the hand expects them.
        className="flex h-[clamp(14rem,100dvh-24.5rem,30rem)] touch-pan-y flex-col overflow-hidden rounded-card border bg-surface outline-none transition duration-150 motion-reduce:translate-none! sm:h-[clamp(16rem,100dvh-19rem,23rem)] starting:translate-y-1 starting:opacity-0"
      >
        <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b px-5 py-2">
          <h2 id="review-question" className="min-w-0 flex-1 font-medium">
            {deck.question(card)}
          </h2>
          <Badge tone="accent">{t(`review.one.${card.kind}`)}</Badge>
        </header>
        <div className="min-h-0 flex-1 overflow-y-auto p-5 max-sm:p-4">
          <CardFace
            card={card}
            editing={isEditing}
            onEdited={edited}
            onChoose={choose}
            onOpen={open}
          />
        </div>
      </section>
      {/* The arrow keys have fixed directions, also in right-to-left languages. */}
      <div
        className={classes(
          "grid min-h-24 grid-cols-2 content-start gap-2 sm:flex sm:min-h-control rtl:sm:flex-row-reverse",
          sides ? "sm:justify-center" : "sm:justify-between",
        )}
      >
        {!sides && (
          <Button
            onClick={actions.forget.run}
            disabled={isEditing}
            className="max-sm:h-11 sm:min-w-36"
          >
            <ArrowLeft size={15} aria-hidden className="text-muted" />
            {actions.forget.label}
          </Button>
        )}
        <Button
          look={opened ? "primary" : "quiet"}
          onClick={actions.skip.run}
          disabled={isEditing}
          className="max-sm:order-2 max-sm:h-11"
        >
          {opened ? <Check size={15} aria-hidden /> : <ArrowDown size={15} aria-hidden />}
          {actions.skip.label}
        </Button>
        {sides && (
          <Button look="quiet" onClick={actions.both.run} className="max-sm:h-11">
            {actions.both.label}
            <Kbd keys="3" />
          </Button>
        )}
        {card.kind === "contradiction" && card.item.against && (
          <ChangedOn
            key={card.id}
            text={t("review.changed.text", { memory: shownContent(card.item.against) })}
            day={card.item.against.valid_from.slice(0, 10)}
            open={dating === card.id}
            onOpen={(wanted) => setDating(wanted ? card.id : undefined)}
            onDay={(on) => on && void deck.changed(card, on)}
          />
        )}
        {!sides && !consent && (
          <Button
            look="quiet"
            onClick={actions.edit.run}
            disabled={isEditing}
            className="max-sm:order-2 max-sm:h-11"
          >
            <Pencil size={14} aria-hidden />
            {actions.edit.label}
            <Kbd keys="e" />
          </Button>
        )}
        {!sides && !consent && (
          <Button
            look="primary"
            onClick={actions.keep.run}
            disabled={isEditing}
            className="max-sm:order-1 max-sm:h-11 sm:min-w-36"
          >
            {actions.keep.label}
            <ArrowRight size={15} aria-hidden />
          </Button>
        )}
      </div>
    </>
  );
}
