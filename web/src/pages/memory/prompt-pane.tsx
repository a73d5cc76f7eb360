/**
 * What the assistant sees: the lines that a new chat without a project begins with, live. A line is struck when a
 * memory of it is forgotten or when it is no longer included, and the bar of tokens shrinks; undo brings it back.
 */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { Fragment, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { PROMPT, usePrompt } from "../../data/prompt.ts";
import {
  isStruck,
  linesOf,
  mergeLines,
  type PromptLine,
  sectionsOf,
} from "../../data/prompt-lines.ts";
import { shownContent } from "../../data/shown-content.ts";
import { type OpenMemory, useMemoryActions } from "../../features/memory/actions.ts";
import { t } from "../../i18n/index.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Drawer } from "../../ui/drawer.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Meter } from "../../ui/meter.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

/** Changes that follow each other closely are read together. */
const DEBOUNCE_MS = 250;

const WIDE = matchMedia("(min-width: 64rem)");

function watchWidth(changed: () => void) {
  WIDE.addEventListener("change", changed);
  return () => WIDE.removeEventListener("change", changed);
}

interface PromptPaneProps {
  byId: ReadonlyMap<string, MemoryView>;
  onOpen: OpenMemory;
  onClose: () => void;
}

export function PromptPane(props: PromptPaneProps) {
  const { onClose } = props;
  const isWide = useSyncExternalStore(watchWidth, () => WIDE.matches);
  if (!isWide) {
    return (
      <Drawer open onOpenChange={(open) => !open && onClose()} title={t("memory.prompt.title")}>
        <PromptLines {...props} />
      </Drawer>
    );
  }
  return (
    <aside
      aria-label={t("memory.prompt.title")}
      className="flex min-h-0 w-[27rem] shrink-0 flex-col border-s border-t bg-surface"
    >
      <header className="flex h-11 shrink-0 items-center justify-between border-b ps-4 pe-2">
        <h2 className="font-medium">{t("memory.prompt.title")}</h2>
        <IconButton small plain label={t("shell.close")} onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <PromptLines {...props} />
      </div>
    </aside>
  );
}

function PromptLines({ byId, onOpen }: PromptPaneProps) {
  const queries = useQueryClient();
  const prompt = usePrompt();
  const [lines, setLines] = useState<readonly PromptLine[]>();
  useEffect(() => {
    if (!prompt.data) return;
    const after = linesOf(prompt.data.baseline);
    setLines((before) => (before ? mergeLines(before, after) : after));
  }, [prompt.data]);
  // The store has every change of this page and of others.
  const [first] = useState(byId);
  useEffect(() => {
    if (byId === first) return;
    const wait = setTimeout(
      () => void queries.invalidateQueries({ queryKey: PROMPT }),
      DEBOUNCE_MS,
    );
    return () => clearTimeout(wait);
  }, [byId, first, queries]);
  if (prompt.error) {
    return (
      <div className="p-4">
        <ProblemCard error={prompt.error} retry={() => void prompt.refetch()} />
      </div>
    );
  }
  if (!prompt.data || !lines) return <Skeleton rows={6} />;
  const shown = lines.map((line) => ({ ...line, gone: isStruck(line, byId) }));
  const memories = shown.filter((line) => line.kind === "memory");
  const sum = (some: readonly PromptLine[]) =>
    some.reduce((total, { tokens = 0 }) => total + tokens, 0);
  const listed = new Set(linesOf(prompt.data.baseline).map((line) => line.key));
  const struck = sum(memories.filter((line) => line.gone && listed.has(line.key)));
  const used = sum(memories.filter((line) => listed.has(line.key)));
  const { baseline, limit } = prompt.data.budget;
  const instructions = shown.filter((line) => line.kind === "instruction");
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="text-muted">{t("memory.prompt.text")}</p>
      <Meter
        label={t("memory.prompt.size")}
        limit={limit}
        shares={[
          { name: t("memory.prompt.memories"), tokens: used - struck },
          { name: t("memory.prompt.instructions"), tokens: Math.max(0, baseline - used) },
        ]}
      />
      <StruckStatus lines={memories} />
      {memories.length === 0 && <p className="text-muted">{t("memory.prompt.none")}</p>}
      <section aria-label={t("memory.prompt.lines")} className="-mx-2 font-mono text-meta">
        {sectionsOf(shown).map(({ heading, lines: below }) => (
          <Fragment key={heading?.key ?? ""}>
            {heading && <h3 className="px-2 pt-3 pb-1 text-muted">{heading.text}</h3>}
            <ul className="flex flex-col">
              {below.map((line) => (
                <Line key={line.key} line={line} byId={byId} onOpen={onOpen} />
              ))}
            </ul>
          </Fragment>
        ))}
      </section>
      {instructions.length > 0 && (
        <details>
          <summary className="w-fit text-meta text-muted">
            {t("memory.prompt.instructions")}
          </summary>
          <p className="pt-2 font-mono text-meta whitespace-pre-wrap text-muted">
            {instructions.map((line) => line.text).join("\n")}
          </p>
        </details>
      )}
      <p className="text-meta text-muted">{t("memory.prompt.more")}</p>
      <div>
        <Link to="/playground" className={buttonClasses("plain", true)}>
          {t("memory.prompt.try")}
        </Link>
      </div>
    </div>
  );
}

/** Announces to screen readers which lines were struck since the last change. */
function StruckStatus({ lines }: { lines: readonly PromptLine[] }) {
  const struck = lines.filter((line) => line.gone);
  const keys = struck.map((line) => line.key).join("\n");
  const known = useRef<ReadonlySet<string>>(new Set());
  const [text, setText] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines change with every render, their keys do not
  useEffect(() => {
    const added = struck.filter((line) => !known.current.has(line.key));
    known.current = new Set(struck.map((line) => line.key));
    setText(added.map((line) => t("memory.prompt.struck", { line: line.text })).join(" "));
  }, [keys]);
  return <output className="sr-only">{text}</output>;
}

/** A line of memories. One memory can be opened and forgotten; several are offered in a menu. */
function Line({
  line,
  byId,
  onOpen,
}: {
  line: PromptLine;
  byId: ReadonlyMap<string, MemoryView>;
  onOpen: OpenMemory;
}) {
  const actions = useMemoryActions();
  const members = line.memories.flatMap((id) => byId.get(id) ?? []);
  const [memory] = line.memories.length === 1 ? members : [];
  const forget =
    memory && !line.gone && actions.forMemory(memory).find((one) => one.name === "forget");
  const button = (
    <button
      type="button"
      disabled={members.length === 0}
      onClick={memory && (() => onOpen(memory))}
      className="min-w-0 flex-1 py-1.5 text-start"
    >
      {line.gone ? (
        <del dir="auto" className="text-bad">
          {line.text}
        </del>
      ) : (
        <span dir="auto">{line.text}</span>
      )}
    </button>
  );
  return (
    <li
      className={classes(
        "group flex items-start gap-1 rounded-control ps-2 hover:bg-hover/70",
        line.isNew && !line.gone && "bg-good-soft",
      )}
    >
      {line.memories.length === 1 ? (
        button
      ) : (
        <Menu trigger={button}>
          {members.map((member) => (
            <MenuItem key={member.id} onSelect={() => onOpen(member)}>
              <span dir="auto" className="block max-w-80 truncate">
                {shownContent(member)}
              </span>
            </MenuItem>
          ))}
        </Menu>
      )}
      {memory && forget && (
        <IconButton
          small
          plain
          label={`${forget.label}: ${line.text}`}
          onClick={() => forget.run(memory, onOpen)}
        >
          <X size={14} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}
