/** The properties of a memory besides its text. */

import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import type { ReactNode } from "react";
import { percent } from "../../base/numbers.ts";
import { usePreferences } from "../../base/preferences.ts";
import { confirmedAt } from "../../data/confirmed.ts";
import { answersIn, useUsage } from "../../data/sources.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Time, useTimeText } from "../../ui/time.tsx";
import { dayOf, labelFor, useDomainName } from "./labels.ts";

export function Properties({ memory }: { memory: MemoryView }) {
  const domain = useDomainName(memory.domain);
  const { timeZone } = usePreferences();
  const usage = useUsage(memory.id);
  const whenText = useTimeText();
  const { value } = memory;
  const valueText = typeof value === "string" ? value : value == null ? "" : JSON.stringify(value);
  const rows: [string, ReactNode][] = [
    [t("memory.field.from"), dayOf(memory.valid_from, timeZone)],
  ];
  if (memory.valid_until) rows.push([t("memory.field.until"), dayOf(memory.valid_until, timeZone)]);
  const confirmed = confirmedAt(memory);
  if (confirmed) rows.push([t("memory.field.confirmed"), <Time key="c" at={confirmed} />]);
  rows.push([t("memory.field.learned"), <Time key="l" at={memory.created_at} absolute />]);
  if (domain) rows.unshift([t("memory.field.domain"), <bdi key="d">{domain}</bdi>]);
  if (memory.project) {
    rows.push([
      t("memory.field.project"),
      <Link key="p" to="/memory" search={{ project: memory.project }}>
        <bdi>{memory.project}</bdi>
      </Link>,
    ]);
  }
  rows.push([t("memory.field.category"), labelFor("category", memory.category)]);
  if (memory.key) {
    rows.push([
      t("memory.field.key"),
      <span key="k" className="font-mono text-meta">
        <bdi>{memory.key}</bdi>
        {valueText && (
          <>
            {" = "}
            <bdi>{valueText}</bdi>
          </>
        )}
      </span>,
    ]);
  }
  const answers = usage.data && answersIn(usage.data);
  if (answers) {
    const when = answers[0] ? whenText(answers[0].at) : "";
    rows.push([t("memory.used"), t("memory.usedTimes", { count: answers.length, when })]);
  }
  if (memory.fades_at) rows.push([t("memory.field.fades"), <Time key="a" at={memory.fades_at} />]);
  if (memory.confidence != null)
    rows.push([t("memory.field.confidence"), percent(memory.effective_confidence)]);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-meta">
      {rows.map(([name, text]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
      {memory.tags.length > 0 && (
        <div className="contents">
          <dt className="text-muted">{t("memory.field.tags")}</dt>
          <dd className="flex flex-wrap gap-1">
            {memory.tags.map((tag) => (
              <Link key={tag} to="/memory" search={{ tag }} className="no-underline">
                <Badge>
                  <bdi>#{tag}</bdi>
                </Badge>
              </Link>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}
