/** One turn of a chat. */

import { Link } from "@tanstack/react-router";
import { CircleHelp, EyeOff, Trash2 } from "lucide-react";
import type { DependentMemory, TurnView } from "lukasa-client";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { isHidden, turnText } from "../../data/hidden.ts";
import { shownContent } from "../../data/shown-content.ts";
import { Quoted, quotesIn } from "../../features/sources/evidence.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Time } from "../../ui/time.tsx";
import type { SourcesParams } from "./params.ts";

export function Turn({
  turn,
  cited,
  chosen,
  search,
  onWhy,
  onRemove,
  onShow,
  children,
}: {
  turn: TurnView;
  /** The memories based on it. */
  cited: readonly DependentMemory[];
  chosen: boolean;
  search: SourcesParams;
  onWhy: () => void;
  onRemove: () => void;
  /** Shows hidden text about domains that are off. */
  onShow: () => void;
  children?: ReactNode;
}) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!chosen) return;
    place.current?.scrollIntoView({ block: "center" });
    place.current?.focus({ preventScroll: true });
  }, [chosen]);
  const quotes = useMemo(() => quotesIn(turn.id, cited), [cited, turn.id]);
  const own = turn.role === "user";
  return (
    <article
      ref={place}
      tabIndex={-1}
      aria-label={t("sources.level.turn", { number: turn.number })}
      aria-current={chosen || undefined}
      className={classes(
        "group grid gap-x-6 gap-y-2 rounded-card border px-4 py-3 outline-none md:grid-cols-[minmax(0,1fr)_15rem]",
        chosen ? "border-accent bg-surface" : "border-transparent hover:bg-surface",
      )}
    >
      <div className="flex min-w-0 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-x-2 text-meta text-muted">
          <span className={own ? "font-medium text-ink" : "font-medium"}>
            {turn.speaker || t(`sources.role.${roleOf(turn)}`)}
          </span>
          <Link
            to="/sources"
            search={{ ...search, turn: turn.number }}
            replace
            resetScroll={false}
            aria-label={t("sources.level.turn", { number: turn.number })}
            className="inline-flex h-6 min-w-6 items-center justify-center text-faint tabular-nums no-underline hover:text-ink hover:underline"
          >
            {turn.number}
          </Link>
          <Time at={turn.said_at} />
        </p>
        {isHidden(turn) ? (
          <p className="flex flex-wrap items-center gap-x-2 text-lead text-muted">
            <EyeOff size={14} aria-hidden className="shrink-0 text-faint" />
            {turnText(turn)}
            <Button small look="quiet" onClick={onShow}>
              {t("sources.showHidden")}
            </Button>
          </p>
        ) : (
          <p className="max-w-prose text-lead leading-relaxed">
            <Quoted text={turnText(turn)} quotes={quotes} whole />
          </p>
        )}
        <div className="flex items-center gap-1 pt-0.5">
          {turn.role === "assistant" && (
            <Button small look="quiet" onClick={onWhy} className="-ms-2">
              <CircleHelp size={14} aria-hidden />
              {t("sources.why.title")}
            </Button>
          )}
          <IconButton
            small
            label={t("sources.depends.open")}
            shortcut={chosen ? "d" : undefined}
            onClick={onRemove}
            className="opacity-60 group-hover:opacity-100 focus-visible:opacity-100"
          >
            <Trash2 size={14} aria-hidden />
          </IconButton>
        </div>
        {children}
      </div>
      {cited.length > 0 && (
        <aside
          aria-label={t("sources.learned")}
          className="border-s-2 border-warn/50 ps-3 text-meta"
        >
          <h3 className="text-fine text-muted">{t("sources.learned")}</h3>
          <ul>
            {cited.map(({ memory }) => (
              <li key={memory.id}>
                <Link
                  to="/sources"
                  search={{ memory: memory.id }}
                  dir="auto"
                  className="block min-h-6 pointer-coarse:min-h-11 py-0.5 text-ink no-underline hover:underline"
                >
                  {shownContent(memory)}
                </Link>
              </li>
            ))}
          </ul>
        </aside>
      )}
    </article>
  );
}

export function roleOf({ role }: TurnView): "user" | "assistant" | "tool" | "system" {
  return role === "user" || role === "assistant" || role === "tool" ? role : "system";
}
