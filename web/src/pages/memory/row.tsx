/** One memory as a row. */

import { Check, Folder } from "lucide-react";
import type { FoundMemory, MemoryView } from "lukasa-client";
import { memo, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { usePreferences } from "../../base/preferences.ts";
import { confirmedAt } from "../../data/confirmed.ts";
import { sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { daysLeft } from "../../data/trash.ts";
import { type OpenMemory, useMemoryActions } from "../../features/memory/actions.ts";
import { Certainty, Force } from "../../features/memory/badges.tsx";
import { Highlighted } from "../../features/memory/highlight.tsx";
import { dayOf, labelFor, useDomainName, validity } from "../../features/memory/labels.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { useSwipe } from "../../ui/swipe.ts";
import { useNow, useTimeText } from "../../ui/time.tsx";
import { useMark, useMarks } from "./marks.ts";
import { RowActions } from "./row-actions.tsx";
import { RowEdit } from "./row-edit.tsx";

/** Additional data of a view for a row. */
export interface RowExtra {
  /** Why it was found by meaning. */
  why?: FoundMemory["why"];
  /** The date in the timeline. */
  when?: string;
  /** How many answers used it, in the order by use. */
  uses?: number;
  /** Whether another memory contradicts it, and the user has not answered. */
  disputed?: boolean;
  /** Whether its area is the heading of its group. */
  underArea?: boolean;
}

interface RowProps extends RowExtra {
  memory: MemoryView;
  /** Its index, and its offset from the top. */
  index: number;
  start: number;
  measure: (element: Element | null) => void;
  onOpen: OpenMemory;
  /** Whether it is drawn on the line of the timeline. */
  rail?: boolean;
}

/** A row that was changed this short ago is tinted for a moment, so that the eye finds it. */
const ARRIVAL_MS = 3_000;

export const Row = memo(function Row(props: RowProps) {
  const { memory, index, start, measure, onOpen, rail, why, when, uses, disputed, underArea } =
    props;
  const marks = useMarks();
  const current = useMark((all) => all.current === memory.id);
  const selected = useMark((all) => all.selected.has(memory.id));
  const editing = useMark((all) => all.editing === memory.id);
  const opened = useMark((all) => all.opened === memory.id);
  const [hovered, setHovered] = useState(false);
  const [arrived] = useState(() => Date.now() - Date.parse(memory.updated_at) < ARRIVAL_MS);
  const place = useTakesFocus<HTMLButtonElement>(memory.id);
  const sides = useSwipeActions(memory, onOpen);
  const swipe = useSwipe(selected ? null : { left: sides.left?.run, right: sides.right?.run });
  const under = swipe.shift < 0 ? sides.left : swipe.shift > 0 ? sides.right : undefined;
  return (
    <li
      ref={measure}
      data-index={index}
      style={{ transform: `translateY(${start}px)` }}
      onPointerEnter={(event) => event.pointerType === "mouse" && setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      className={classes(
        "absolute inset-x-0 top-0 border-b",
        arrived && "arrives",
        editing && "z-10 bg-surface px-4 py-3 sm:px-6",
      )}
    >
      {under && <Underlay label={under.label} end={swipe.shift < 0} />}
      {editing ? (
        <RowEdit memory={memory} />
      ) : (
        <button
          ref={place}
          type="button"
          tabIndex={current ? 0 : -1}
          data-memory={memory.id}
          aria-current={opened || undefined}
          onFocus={() => !current && marks.go(memory.id, false)}
          {...swipe.handlers}
          style={swipe.shift ? { translate: `${swipe.shift}px` } : undefined}
          onKeyDown={marks.press}
          onContextMenu={(event) => {
            // A long press selects a row on touch devices.
            if ((event.nativeEvent as PointerEvent).pointerType !== "touch") return;
            event.preventDefault();
            marks.toggle(memory.id);
          }}
          onClick={(event) => {
            if (!event.shiftKey) {
              marks.anchor = memory.id;
              marks.go(memory.id, false);
            }
            const choosing = marks.selected.size > 0 && event.detail > 0;
            if (event.shiftKey) marks.extend(memory.id);
            else if (event.metaKey || event.ctrlKey || choosing) marks.toggle(memory.id);
            else onOpen(memory);
          }}
          className={classes(
            "flex min-h-row w-full touch-pan-y !cursor-default items-center gap-3 px-4 text-start -outline-offset-2 sm:px-6",
            under && "relative bg-canvas",
            selected
              ? "bg-accent-soft"
              : opened
                ? "bg-active"
                : "hover:bg-hover/70 focus-visible:bg-hover/70",
          )}
        >
          <span
            className={classes(
              "flex w-5 shrink-0 justify-center",
              // Phones have no pointer that would show a box here; their pins are below the text.
              !selected && "max-md:hidden",
            )}
          >
            {selected ? <Selected /> : <Force force={memory.force} />}
          </span>
          {rail && <Rail />}
          <span className="flex min-w-0 flex-1 flex-col gap-x-3 gap-y-1 py-1.5 md:flex-row md:items-center">
            {/* Text of either direction is aligned with the page's start, and keeps its own direction. */}
            <span className="flex min-w-0 flex-1 flex-col text-left rtl:text-right">
              <span dir="auto" className="line-clamp-2 md:line-clamp-1">
                <Highlighted text={shownContent(memory)} words={why?.matched} />
              </span>
              {why && <Why why={why} />}
            </span>
            <RowStatus
              memory={memory}
              when={when}
              uses={uses}
              disputed={disputed}
              underArea={underArea}
            />
          </span>
        </button>
      )}
      {hovered && !editing && !selected && <SelectBox id={memory.id} />}
      {hovered && !editing && <RowActions memory={memory} onOpen={onOpen} />}
    </li>
  );
});

/** What a swipe does: to the left it forgets; to the right it confirms, or restores what was removed. */
function useSideActions(memory: MemoryView, onOpen: OpenMemory): SideActions {
  const available = useMemoryActions().forMemory(memory);
  const action = (...names: string[]) => {
    const found = available.find((one) => names.includes(one.name));
    return found && { label: found.label, run: () => found.run(memory, onOpen) };
  };
  return { left: action("forget"), right: action("confirm", "restore") };
}

interface SideActions {
  left?: { label: string; run: () => void };
  right?: { label: string; run: () => void };
}

const NO_ACTIONS: SideActions = {};
/** Without a touch screen no row needs them, and ten thousand memories stay quick. */
const useSwipeActions: typeof useSideActions = matchMedia("(any-pointer: coarse)").matches
  ? useSideActions
  : () => NO_ACTIONS;

/** The name of the action under a row that is swiped away. */
function Underlay({ label, end }: { label: string; end: boolean }) {
  return (
    <span
      aria-hidden
      className={classes(
        "absolute inset-0 flex items-center bg-accent-soft px-4 text-meta text-accent-text",
        // A swipe has a direction on the screen, in every language.
        end ? "justify-end rtl:justify-start" : "justify-start rtl:justify-end",
      )}
    >
      {label}
    </span>
  );
}

/** An empty box at the start of a row under the pointer, which selects it. Keyboards select with X. */
function SelectBox({ id }: { id: string }) {
  const marks = useMarks();
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={t("memory.key.select")}
      onClick={(event) => (event.shiftKey ? marks.extend(id) : marks.toggle(id))}
      className="absolute inset-y-0 start-2 flex w-8 items-center justify-center sm:start-4"
    >
      <span className="size-4 rounded border border-strong-line bg-surface" />
    </button>
  );
}

export function Selected() {
  return (
    <span
      role="img"
      aria-label={t("memory.selected")}
      className="flex size-4 items-center justify-center rounded bg-accent text-on-accent"
    >
      <Check size={12} aria-hidden />
    </span>
  );
}

/** The line of the timeline, with a dot for this memory. */
function Rail() {
  return (
    <span aria-hidden className="relative w-3 shrink-0 self-stretch">
      <span className="absolute inset-y-0 start-1/2 w-px bg-line" />
      <span className="absolute start-1/2 top-1/2 size-2 -translate-x-1/2 -translate-y-1/2 rounded-full bg-accent rtl:translate-x-1/2" />
    </span>
  );
}

/** Focuses the element when its row is wanted, also if it is rendered only afterwards. */
export function useTakesFocus<T extends HTMLElement>(id: string) {
  const marks = useMarks();
  const wanted = useMark((all) => all.wanted === id);
  const editing = useMark((all) => all.editing === id);
  const place = useRef<T>(null);
  useLayoutEffect(() => {
    if (!wanted || editing || !place.current) return;
    marks.wanted = undefined;
    place.current.focus({ preventScroll: true });
  }, [marks, wanted, editing]);
  return place;
}

/** Area, what is unusual about it, and the date. */
function RowStatus({ memory, when, uses, disputed, underArea }: { memory: MemoryView } & RowExtra) {
  const domain = useDomainName(memory.domain);
  return (
    <span className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-0.5 md:justify-end">
      {memory.force === "hard" && (
        <span className="flex md:hidden">
          <Force force="hard" />
        </span>
      )}
      {domain && !underArea && (
        <Badge>
          <bdi className="max-w-40 truncate">{domain}</bdi>
        </Badge>
      )}
      {memory.project && (
        <Badge>
          <Folder size={11} aria-hidden />
          <bdi className="max-w-40 truncate">{memory.project}</bdi>
        </Badge>
      )}
      {memory.status !== "active" && memory.status !== "forgotten" && (
        <Badge tone="warn">{labelFor("status", memory.status)}</Badge>
      )}
      {disputed && <Badge tone="warn">{t("memory.disputed")}</Badge>}
      <Certainty memory={memory} exceptions />
      <span
        className={classes(
          "text-meta text-muted md:text-end",
          uses === undefined ? "md:w-30" : "whitespace-nowrap md:w-44",
        )}
      >
        {uses === undefined ? (
          <When memory={memory} when={when} />
        ) : (
          t("memory.usedCount", { count: uses })
        )}
      </span>
    </span>
  );
}

/** The date in short: of the last confirmation, or of the save. */
function When({ memory, when }: { memory: MemoryView; when?: string }): ReactNode {
  const now = useNow();
  const { timeZone } = usePreferences();
  const ago = useTimeText();
  const text = () => {
    if (when) return dayOf(when, timeZone);
    if (memory.status === "trashed")
      return t("memory.daysLeft", { count: daysLeft(memory.updated_at, now) });
    if (memory.status === "forgotten") return ago(memory.updated_at);
    return ago(confirmed ?? memory.created_at);
  };
  const confirmed = confirmedAt(memory);
  const details = [
    t(`shell.origin.${sourceOf(memory)}`),
    confirmed
      ? t("memory.confirmedAt", { when: ago(confirmed) })
      : t("memory.savedAt", { when: ago(memory.created_at) }),
    validity(memory, timeZone),
  ];
  return (
    <span title={details.join(" · ")} className="whitespace-nowrap tabular-nums">
      <bdi>{text()}</bdi>
    </span>
  );
}

/** Why it was found: its words, or its meaning; the search arms are in the tooltip. */
function Why({ why }: { why: FoundMemory["why"] }) {
  const arms = new Set(why.arms.map((one) => labelFor("arm", one.arm)));
  return (
    <span className="truncate text-fine text-muted" title={[...arms].join(" · ")}>
      <bdi>
        {why.matched.length > 0
          ? t("memory.matched", { words: why.matched.join(", ") })
          : t("memory.similar")}
      </bdi>
    </span>
  );
}
