/** The lines of the prompt, and what was left out and why. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { turnText } from "../../data/hidden.ts";
import { useMemories } from "../../data/memories.ts";
import { Force } from "../../features/memory/badges.tsx";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import type { Answers } from "./answers.ts";
import { figure, reasonLabel, TurnLink } from "./ranks.tsx";
import { type Exclusion, exclusionsOf, type TurnPlace } from "./requests.ts";

/** The lines of both parts, in the order of the prompt, with their marks. */
export function IncludedLines({ context, found }: Answers) {
  const turns = placesOf(found);
  const lines = [...context.baseline.citations, ...context.dynamic.citations];
  const hard = new Set(context.hard.map((line) => line.mark));
  return (
    <Card title={t("playground.in", { count: lines.length })} flush>
      {lines.length === 0 ? (
        <p className="p-4 text-muted">{t("playground.in.none")}</p>
      ) : (
        <ol className="divide-y divide-line">
          {lines.map((line) => (
            <li key={line.mark} className="flex items-start gap-3 px-4 py-2">
              <Badge tone="accent">{line.mark}</Badge>
              <span className="mt-0.5 shrink-0">
                <Force force={hard.has(line.mark) ? "hard" : "soft"} />
              </span>
              <span className="min-w-0 flex-1">
                <span dir="auto" className="block">
                  {line.memory_id ? (
                    <Link
                      to="/memory/$id"
                      params={{ id: line.memory_id }}
                      className="underline-offset-2 hover:underline"
                    >
                      {line.text}
                    </Link>
                  ) : (
                    <Turn place={turns.get(line.turn_id ?? "")}>{line.text}</Turn>
                  )}
                </span>
                <span className="text-meta text-muted">{line.section}</span>
              </span>
              <Figures tokens={line.tokens} relevance={line.relevance} />
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

const FIRST = 8;

/** What was left out. The text comes from the search response, or from the current memory. */
export function ExcludedLines({ context, found }: Answers) {
  const [all, setAll] = useState(false);
  const { byId } = useMemories();
  const words = new Map<string, string>([
    ...found.memories.map(({ memory }) => [memory.id, memory.content] as const),
    ...found.turns.map(({ turn }) => [turn.id, turnText(turn)] as const),
  ]);
  const turns = placesOf(found);
  const left = exclusionsOf(context);
  const out = left.filter((one) => !one.mark);
  const shown = all ? left : out.slice(0, FIRST);
  return (
    <Card title={t("playground.out", { count: out.length })} flush>
      {shown.length === 0 && <p className="p-4 text-muted">{t("playground.out.none")}</p>}
      <ul className="divide-y divide-line">
        {shown.map((one) => (
          <ExclusionRow
            key={one.id}
            left={one}
            text={words.get(one.id) ?? byId.get(one.id)?.content}
            place={turns.get(one.id)}
          />
        ))}
      </ul>
      {left.length > Math.min(out.length, FIRST) && (
        <div className="border-t px-2 py-1.5">
          <Button small look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t("playground.out.fewer") : t("playground.out.all", { count: left.length })}
          </Button>
        </div>
      )}
    </Card>
  );
}

function ExclusionRow({
  left,
  text = left.id,
  place,
}: {
  left: Exclusion;
  text?: string;
  place?: TurnPlace;
}) {
  return (
    <li className="flex items-start gap-3 px-4 py-2">
      <span className="flex min-w-0 flex-1 flex-col gap-0.5">
        <span dir="auto">
          {left.memory ? (
            <Link
              to="/memory/$id"
              params={{ id: left.id }}
              className="underline-offset-2 hover:underline"
            >
              {text}
            </Link>
          ) : (
            <Turn place={place}>{text}</Turn>
          )}
        </span>
        <span className="text-meta text-muted">
          {left.reasons
            .map(({ part, reason }) => `${t(`playground.part.${part}`)}: ${reasonLabel(reason)}`)
            .join(" · ")}
        </span>
      </span>
      {left.mark && <Badge tone="accent">{t("playground.out.in", { mark: left.mark })}</Badge>}
      <Figures relevance={left.relevance} />
    </li>
  );
}

/** The places of the turns that were found. */
function placesOf(found: Answers["found"]): Map<string, TurnPlace> {
  return new Map(
    found.turns.map(({ turn }) => [turn.id, { session: turn.session_id, turn: turn.number }]),
  );
}

function Turn({ place, children }: { place: TurnPlace | undefined; children: string }) {
  return place ? <TurnLink place={place}>{children}</TurnLink> : children;
}

function Figures({ tokens, relevance }: { tokens?: number; relevance?: number | null }) {
  return (
    <span className="shrink-0 text-end text-meta text-muted tabular-nums">
      {tokens !== undefined && (
        <span className="block">{t("playground.tokens", { count: tokens })}</span>
      )}
      {relevance !== undefined && relevance !== null && (
        <span className="block" title={t("playground.relevance")}>
          {figure(relevance, 3)}
        </span>
      )}
    </span>
  );
}
