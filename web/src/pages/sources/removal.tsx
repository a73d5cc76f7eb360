/**
 * "What depends on this?": before a turn, an episode or a chat is removed, shows what would be removed with it,
 * what would have less evidence, and what stays. An episode is summarised again, and nothing depends on it. Deleting
 * can be undone; erasing asks again.
 */

import { Link } from "@tanstack/react-router";
import type { DependentsView, WriteResult } from "lukasa-client";
import { useEffect, useRef, useState } from "react";
import { shownContent } from "../../data/shown-content.ts";
import { type SourceName, useDependents } from "../../data/sources.ts";
import { listFormat } from "../../i18n/formats.ts";
import { locale, nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { useErase } from "./erasing.tsx";

export interface RemovalProps {
  source: SourceName;
  /** The text to type before erasing, if it has a name. */
  name?: string;
  onDelete: () => void;
  /** Absent if it cannot be erased by itself. */
  onErase?: () => Promise<WriteResult>;
  onClose: () => void;
}

export function Removal({ source, name, onDelete, onErase, onClose }: RemovalProps) {
  // The event of the erasure may arrive while the panel is open; its source is not requested again then.
  const [erasing, setErasing] = useState(false);
  const dependents = useDependents(source, !erasing);
  const erase = useErase();
  const runErase = async (run: () => Promise<WriteResult>) => {
    setErasing(true);
    try {
      return await run();
    } catch (error) {
      setErasing(false);
      throw error;
    }
  };
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label={t("sources.depends.title")}
      onKeyDown={(event) => {
        // The dialog handles its own Escape.
        if (event.key === "Escape" && place.current?.contains(event.target as Node)) onClose();
      }}
      className="flex flex-col gap-3 rounded-card border bg-sunken p-4 outline-none"
    >
      <h3 className="font-medium">{t("sources.depends.title")}</h3>
      {dependents.error && (
        <ProblemCard error={dependents.error} retry={() => void dependents.refetch()} />
      )}
      {dependents.isPending && <p className="text-muted">{t("shell.loading")}</p>}
      {dependents.data && <Impact found={dependents.data} again={"episode_id" in source} />}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onDelete} disabled={dependents.isPending}>
          {t("sources.delete")}
        </Button>
        {onErase && erase && (
          <Button
            look="quiet"
            disabled={!dependents.data}
            onClick={() =>
              dependents.data &&
              erase({
                word: name,
                goes: removedText(dependents.data),
                stays: keptText(dependents.data),
                run: () => runErase(onErase),
              })
            }
          >
            {t("sources.erase.open")}
          </Button>
        )}
        <Button look="quiet" onClick={onClose}>
          {t("shell.cancel")}
        </Button>
      </div>
    </section>
  );
}

/** What would be removed: "1 turn, 3 memories and 1 episode". */
function removedText({ reached }: DependentsView): string {
  const parts = (["turns", "withdrawn", "episodes"] as const)
    .filter((part) => reached[part] > 0)
    .map((part) => t(`sources.depends.count.${part}`, { count: reached[part] }));
  return listFormat(locale(), { type: "conjunction" }).format(parts);
}

/** What would stay: "1 memory stays, because you stated it." */
function keptText({ reached }: DependentsView): string | undefined {
  return reached.kept > 0 ? t("sources.depends.kept", { count: reached.kept }) : undefined;
}

/** `again`: it is summarised again, and what was learned stays. */
function Impact({ found, again }: { found: DependentsView; again: boolean }) {
  const { reached } = found;
  return (
    <>
      <ul className="flex flex-col gap-0.5">
        <li>{t("sources.depends.goes", { what: removedText(found) })}</li>
        {reached.weakened > 0 && (
          <li>{t("sources.depends.weakened", { count: reached.weakened })}</li>
        )}
        {again && <li>{t("sources.depends.again")}</li>}
        {!again && keptText(found) && <li>{keptText(found)}</li>}
        {reached.portraits > 0 && (
          <li>{t("sources.depends.portraits", { count: reached.portraits })}</li>
        )}
      </ul>
      {found.memories.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-control border bg-surface">
          {found.memories.map(({ memory, fate }) => (
            <li key={memory.id} className="flex items-center gap-3 px-3 py-1.5">
              <Link
                to="/sources"
                search={{ memory: memory.id }}
                dir="auto"
                className="min-w-0 flex-1 py-0.5 text-ink no-underline hover:underline"
              >
                {shownContent(memory)}
              </Link>
              <Fate fate={fate} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export function Fate({ fate }: { fate: string }) {
  const key = `sources.fate.${fate}`;
  const tone = fate === "withdrawn" ? "bad" : fate === "weakened" ? "warn" : "plain";
  return <Badge tone={tone}>{nameText(key, fate)}</Badge>;
}
