/** Areas for the memories that have none: the server suggests them, and the user changes, leaves out or accepts. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FilingSuggestionsView, MemoryView } from "lukasa-client";
import { useMemo, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { useBatchMemoryWrites } from "../../data/batch-writes.ts";
import { useDomains } from "../../data/domains.ts";
import { shownContent } from "../../data/shown-content.ts";
import { domainName } from "../../i18n/domains.ts";
import { filing } from "../../i18n/en/filing.ts";
import { listFormat } from "../../i18n/formats.ts";
import { addMessages, locale, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Select } from "../../ui/select.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { AreaDot } from "../memory/area-dot.tsx";
import { LINK } from "../sources/evidence.tsx";
import { type Filing, filingsOf } from "./filings.ts";

addMessages({ filing });

export function FilingDialog({
  memories,
  onClose,
}: {
  memories: readonly MemoryView[];
  onClose: () => void;
}) {
  const lukasa = useLukasa();
  const suggestions = useQuery({
    queryKey: ["filing"],
    queryFn: ({ signal }) => lukasa.memories.suggestFiling({ signal }),
    gcTime: 0,
    staleTime: 0,
  });
  const { data, error, refetch } = suggestions;
  if (data) return <Choices memories={memories} suggestions={data} onClose={onClose} />;
  return (
    <Dialog open wide onOpenChange={onClose} title={t("filing.title")} text={t("filing.text")}>
      {error ? <ProblemCard error={error} retry={() => void refetch()} /> : <Skeleton rows={6} />}
    </Dialog>
  );
}

function Choices({
  memories,
  suggestions,
  onClose,
}: {
  memories: readonly MemoryView[];
  suggestions: FilingSuggestionsView;
  onClose: () => void;
}) {
  const { file } = useBatchMemoryWrites();
  const domains = useDomains();
  // What was there when the dialog was opened: a memory that arrives later does not move the lines.
  const [offered] = useState(() => filingsOf(memories, suggestions.data));
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(
    () => new Map(offered.flatMap((one) => (one.area ? [[one.memory.id, one.area]] : []))),
  );
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const choices = useMemo(
    () => [
      { value: "", text: t("memory.noDomain") },
      // An area that is off saves nothing.
      ...(domains.data ?? [])
        .filter((one) => !one.requires_opt_in || one.opted_in_at)
        .map((one) => ({ value: one.name, text: domainName(one) })),
    ],
    [domains.data],
  );
  const filed = offered.flatMap(({ memory }) => {
    const domain = left.has(memory.id) ? undefined : chosen.get(memory.id);
    return domain ? [{ memory, domain }] : [];
  });
  const tick = (id: string, keep: boolean) => {
    const next = new Set(left);
    if (keep) next.delete(id);
    else next.add(id);
    setLeft(next);
  };
  const choose = (id: string, area: string) => {
    const next = new Map(chosen);
    if (area) next.set(id, area);
    else next.delete(id);
    setChosen(next);
    tick(id, true);
  };
  const off = suggestions.closed.map((name) => domainName(name));
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={t("filing.title")}
      text={t("filing.text")}
      actions={
        <>
          <Button look="quiet" onClick={onClose}>
            {t("shell.cancel")}
          </Button>
          <Button
            look="primary"
            disabled={filed.length === 0}
            onClick={() => {
              onClose();
              void file(filed);
            }}
          >
            {t("filing.save", { count: filed.length })}
          </Button>
        </>
      }
    >
      <ul aria-label={t("filing.title")} className="-my-2 divide-y divide-line">
        {offered.map(({ memory }) => (
          <Line
            key={memory.id}
            memory={memory}
            area={chosen.get(memory.id) ?? ""}
            kept={!left.has(memory.id)}
            choices={choices}
            onTick={(keep) => tick(memory.id, keep)}
            onArea={(area) => choose(memory.id, area)}
          />
        ))}
      </ul>
      {offered.length < memories.length && (
        <p className="pt-4 text-muted">
          {t("filing.more", { count: memories.length - offered.length })}
        </p>
      )}
      {off.length > 0 && (
        <p className="pt-4 text-muted">
          {t("filing.off", { areas: listFormat(locale()).format(off) })}{" "}
          <Link to="/settings" className={LINK}>
            {t("filing.settings")}
          </Link>
        </p>
      )}
    </Dialog>
  );
}

function Line({
  memory,
  area,
  kept,
  choices,
  onTick,
  onArea,
}: {
  memory: Filing["memory"];
  area: string;
  kept: boolean;
  choices: readonly { value: string; text: string }[];
  onTick: (keep: boolean) => void;
  onArea: (area: string) => void;
}) {
  const words = shownContent(memory);
  return (
    <li className="flex items-center gap-x-4 gap-y-1 py-2 max-sm:flex-col max-sm:items-stretch">
      <div className="min-w-0 flex-1">
        <Checkbox
          checked={kept && area !== ""}
          disabled={area === ""}
          onChange={onTick}
          label={<span dir="auto">{words}</span>}
        />
      </div>
      <div className="flex items-center gap-2 max-sm:ps-8.5 sm:w-52">
        <AreaDot domain={area} />
        <div className="min-w-0 flex-1">
          <Select
            label={t("filing.area", { memory: words })}
            value={area}
            choices={choices}
            onChange={onArea}
          />
        </div>
      </div>
    </li>
  );
}
