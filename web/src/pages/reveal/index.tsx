/**
 * What was found by an import, or saved from a pasted list: by area, with everything kept unless it is dropped.
 * Memories of an import are in no prompt until the user keeps them here.
 */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Check, Inbox, PartyPopper } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { useMemo, useState } from "react";
import { useMemories } from "../../data/memories.ts";
import { reveal } from "../../i18n/en/reveal.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useDecide, useImport } from "./decisions.ts";
import { type Area, areasOf } from "./lines.ts";
import { RevealList } from "./list.tsx";

addMessages({ reveal });

const route = getRouteApi("/reveal");

export default function RevealPage() {
  const { import: id, since } = route.useSearch();
  const { byId, all, complete, error } = useMemories();
  const found = useImport(id);
  const memories = useMemo(() => {
    if (id) return (found.ids ?? []).flatMap((one) => byId.get(one) ?? []).filter(isActive);
    return all.filter((one) => since && isActive(one) && one.created_at >= since);
  }, [id, found.ids, byId, all, since]);
  const failed = error ?? (id ? found.error : undefined);
  const ready = complete && !(id && found.pending);
  return (
    <Page
      title={t(id ? "reveal.found" : "reveal.saved")}
      layout="reading"
      flush
      actions={
        <Link to={id ? "/data" : "/memory"} className={buttonClasses("quiet", true)}>
          <ArrowLeft size={14} aria-hidden className="rtl:rotate-180" />
          {t(id ? "shell.page.data" : "memory.backToList")}
        </Link>
      }
    >
      {failed ? (
        <div className="px-4 sm:px-6">
          <ProblemCard error={failed} />
        </div>
      ) : !ready ? (
        <Skeleton rows={8} />
      ) : memories.length === 0 && !id ? (
        <EmptyState title={t("memory.none.all")} text={t("memory.none.allText")} />
      ) : memories.length === 0 ? (
        <Decided proposals={all.filter(isImportedSuggestion).length} />
      ) : (
        <Reveal key={id ?? since} memories={memories} found={found.one} />
      )}
    </Page>
  );
}

const isActive = ({ status }: MemoryView) => status === "active";
const isImportedSuggestion = ({ status, origin }: MemoryView) =>
  status === "proposed" && origin === "import";

function Reveal({
  memories,
  found,
}: {
  memories: readonly MemoryView[];
  found: ReturnType<typeof useImport>["one"];
}) {
  const navigate = useNavigate();
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const { decide, busy } = useDecide(found);
  const areas = useMemo(() => areasOf(memories), [memories]);
  const unlisted = Math.max(0, (found?.undecided ?? 0) - memories.length);
  const split = (some: readonly MemoryView[]) => ({
    keep: some.filter(({ id }) => !dropped.has(id)),
    drop: some.filter(({ id }) => dropped.has(id)),
  });
  const answer = split(memories);
  const toggle = (id: string) => {
    const next = new Set(dropped);
    if (!next.delete(id)) next.add(id);
    setDropped(next);
  };
  const finish = async () => {
    if (found || answer.drop.length > 0) await decide({ ...answer, unlisted });
    void navigate({ to: "/memory" });
  };
  const kept = answer.keep.length + unlisted;
  return (
    <>
      <div className="flex flex-col gap-1 px-4 pb-3 sm:px-6">
        <p className="text-lead">
          <Counts memories={memories.length + unlisted} areas={areas} />
        </p>
        <p className="text-muted">{t(found ? "reveal.foundText" : "reveal.savedText")}</p>
        {unlisted > 0 && (
          <p className="text-meta text-muted">{t("reveal.more", { count: unlisted })}</p>
        )}
      </div>
      <RevealList
        title={t(found ? "reveal.found" : "reveal.saved")}
        areas={areas}
        dropped={dropped}
        onToggle={toggle}
        busy={busy}
        onKeepArea={found && ((area) => void decide(split(area.memories)))}
      />
      <footer
        data-footer
        className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3 sm:px-6"
      >
        <output className="min-w-0 flex-1 text-meta text-muted max-sm:basis-full">
          {answer.drop.length > 0 && t("reveal.dropped", { count: answer.drop.length })}
        </output>
        {found && (
          <Link to="/memory" className={`${buttonClasses("quiet")} max-sm:flex-1`}>
            {t("reveal.later")}
          </Link>
        )}
        <Button look="primary" busy={busy} onClick={() => void finish()} className="max-sm:flex-1">
          {!busy && <Check size={15} aria-hidden />}
          {found && kept > 0
            ? t("reveal.keep", { count: kept, dropped: answer.drop.length })
            : t("reveal.done", { count: answer.drop.length })}
        </Button>
      </footer>
    </>
  );
}

/** "236 memories in 7 areas", with the numbers emphasized. */
function Counts({ memories, areas }: { memories: number; areas: readonly Area[] }) {
  const named = areas.filter(({ name }) => name).length;
  return (
    <>
      <strong className="tabular-nums">{t("memory.count", { count: memories })}</strong>
      {named > 0 && ` ${t("reveal.inAreas", { count: named })}`}
    </>
  );
}

/** Nothing waits any more. */
function Decided({ proposals }: { proposals: number }) {
  return (
    <EmptyState
      icon={<PartyPopper size={20} aria-hidden />}
      title={t("reveal.decided")}
      text={t("reveal.decidedText")}
      next={[
        {
          text: t("reveal.seeMemory"),
          action: (
            <Link to="/memory" className={buttonClasses("plain", true)}>
              {t("shell.page.memory")}
            </Link>
          ),
        },
        ...(proposals > 0
          ? [
              {
                text: (
                  <span className="inline-flex items-center gap-1.5">
                    <Inbox size={14} aria-hidden />
                    {t("reveal.suggestions", { count: proposals })}
                  </span>
                ),
                action: (
                  <Link
                    to="/review"
                    search={{ kind: "proposal", view: "list" }}
                    className={buttonClasses("plain", true)}
                  >
                    {t("shell.page.review")}
                  </Link>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}
