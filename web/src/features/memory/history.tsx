/** The history of a memory, newest first, with text diffs. */

import { RotateCcw } from "lucide-react";
import type { MemoryView, OperationView, UpdateMemory } from "lukasa-client";
import { usePreferences } from "../../base/preferences.ts";
import { useApps } from "../../data/apps.ts";
import { isConsoleChat } from "../../data/console-chat.ts";
import { useSteps } from "../../data/history.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import type { Step } from "../../data/steps.ts";
import { domainName } from "../../i18n/domains.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Diff } from "../../ui/diff.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { dayOf, labelFor } from "./labels.ts";

export function HistorySteps({ memory, readOnly }: { memory: MemoryView; readOnly: boolean }) {
  const steps = useSteps(memory.id);
  if (steps.error) return <ProblemCard error={steps.error} retry={() => void steps.refetch()} />;
  if (!steps.data) return <Skeleton rows={2} />;
  return (
    <ol className="flex flex-col">
      {steps.data.map((step, at) => (
        <StepShown
          key={step.operation.id}
          step={step}
          memory={memory}
          last={at === steps.data.length - 1}
          readOnly={readOnly}
        />
      ))}
    </ol>
  );
}

function StepShown({
  step: { operation, before, after },
  memory,
  last,
  readOnly,
}: {
  step: Step;
  memory: MemoryView;
  last: boolean;
  readOnly: boolean;
}) {
  const { update } = useMemoryWrites();
  const { timeZone } = usePreferences();
  const apps = useApps();
  const undone = Boolean(operation.undone_by);
  const lines = after && before ? differences(before, after, timeZone) : [];
  const different = after !== undefined && memory.status === "active" && !sameClaim(after, memory);
  return (
    <li className="relative flex flex-col gap-1 ps-5 pb-4">
      {!last && (
        <span aria-hidden className="absolute start-[0.28rem] top-3 bottom-0 w-px bg-line" />
      )}
      <span
        aria-hidden
        className={classes(
          "absolute start-0 top-[0.4rem] size-2.5 rounded-full border-2",
          undone ? "border-strong-line bg-surface" : "border-accent bg-accent",
        )}
      />
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className={classes("font-medium", undone && "line-through")}>
          {labelFor("verb", operation.verb)}
        </span>
        <span className="text-meta text-muted">{actorOf(operation, after, apps)}</span>
        <span className="ms-auto text-meta text-muted">
          <Time at={operation.at} />
        </span>
      </p>
      {after && before && after.content !== before.content ? (
        <p className="text-meta">
          <Diff before={before.content} after={after.content} />
        </p>
      ) : after && !before ? (
        <p dir="auto" className="text-meta">
          {after.content}
        </p>
      ) : null}
      {lines.map((line) => (
        <p key={line} dir="auto" className="text-meta text-muted">
          {line}
        </p>
      ))}
      {after?.reasoning && after.reasoning !== before?.reasoning && (
        <p dir="auto" className="text-meta text-muted">
          {after.reasoning}
        </p>
      )}
      {undone && <p className="text-fine text-muted">{t("memory.history.undone")}</p>}
      {different && after && !readOnly && (
        <div>
          <Button
            small
            look="quiet"
            className="-ms-2"
            onClick={() => void update(memory, claimOf(after))}
          >
            <RotateCcw size={13} aria-hidden />
            {t("memory.history.restore")}
          </Button>
        </div>
      )}
    </li>
  );
}

/** The author of an operation as text; an app with its name, if the user may see it. */
function actorOf(
  operation: OperationView,
  wrote: MemoryView | undefined,
  { names, signIns }: ReturnType<typeof useApps>,
): string {
  if (operation.caller === "human") return t("memory.actor.you");
  if (operation.caller === "job")
    return t(operation.extracted ? "memory.actor.extracted" : "memory.actor.job");
  if (operation.origin === "import") return t("memory.actor.import");
  if (isConsoleChat(operation, signIns, wrote)) return t("memory.actor.chat");
  const key = names.get(operation.credential);
  return key ? t("memory.actor.key", { key }) : t("memory.actor.app");
}

const FIELDS = ["domain", "force", "key", "category", "tier"] as const;

/** Changes besides the text, one line each. */
function differences(before: MemoryView, after: MemoryView, timeZone: string | null): string[] {
  const lines: string[] = [];
  const line = (name: string, was: string, is: string) =>
    lines.push(t("memory.history.field", { name, was, is }));
  const none = t("memory.history.none");
  for (const field of FIELDS) {
    if ((before[field] ?? "") !== (after[field] ?? ""))
      line(t(`memory.field.${field}`), fieldText(before, field), fieldText(after, field));
  }
  const when = (at: string | null | undefined) => (at ? dayOf(at, timeZone) : none);
  if (after.content === before.content) {
    if (when(before.valid_from) !== when(after.valid_from))
      line(t("memory.field.from"), when(before.valid_from), when(after.valid_from));
    if (when(before.valid_until) !== when(after.valid_until))
      line(t("memory.field.until"), when(before.valid_until), when(after.valid_until));
  }
  return lines;
}

/** A field of a memory as text. */
function fieldText(memory: MemoryView, field: (typeof FIELDS)[number]): string {
  const value = memory[field];
  if (!value) return t("memory.history.none");
  if (field === "domain") return domainName(value);
  if (field === "category") return labelFor("category", value);
  if (field === "key") return value;
  return nameText(`shell.${field}.${value}`, value);
}

function sameClaim(one: MemoryView, other: MemoryView): boolean {
  return JSON.stringify(claimOf(one)) === JSON.stringify(claimOf(other));
}

/** The claim of a version as an update, for restoring it. */
function claimOf(memory: MemoryView): UpdateMemory {
  const { content, summary, detail, category, type, kind, force, domain, key, value, tags } =
    memory;
  return {
    content,
    summary: summary ?? null,
    detail: detail ?? null,
    category,
    type,
    kind,
    force,
    domain: domain ?? null,
    key: key ?? null,
    value: value ?? null,
    tags,
  };
}
