/** Proposals: text, reasoning, and three answers. */

import { Link } from "@tanstack/react-router";
import type { MemoryView } from "lukasa-client";
import { type KeyboardEvent, useState } from "react";
import { formatCount } from "../../base/numbers.ts";
import { useProposalWrites } from "../../data/proposals.ts";
import { sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { INPUT } from "../../ui/field.tsx";
import { Force, SourceIcon } from "./badges.tsx";
import { useDomainName } from "./labels.ts";

/** Shown at first; the Review page has a deck for more. */
const MAX_SHOWN = 3;
/** More than these are answered in Review only, as a list. */
const MAX_UNFOLDED = 20;

export function Proposals({ memories }: { memories: readonly MemoryView[] }) {
  const [all, setAll] = useState(false);
  if (memories.length === 0) return null;
  const shown = all ? memories : memories.slice(0, MAX_SHOWN);
  return (
    <section
      aria-label={t("memory.proposals")}
      className="border-t bg-accent-soft/40 px-4 py-3 sm:px-6"
    >
      <h2 className="flex items-center gap-2 pb-2 text-meta font-medium">
        {t("memory.proposals")}
        <Badge tone="accent">{formatCount(memories.length)}</Badge>
      </h2>
      <ul className="grid gap-2 xl:grid-cols-2">
        {shown.map((memory) => (
          <Proposal key={memory.id} memory={memory} />
        ))}
      </ul>
      {memories.length > MAX_UNFOLDED ? (
        <Link
          to="/review"
          search={{ kind: "proposal", view: "list" }}
          className={`${buttonClasses("quiet", true)} mt-2`}
        >
          {t("memory.moreInReview", { count: memories.length - MAX_SHOWN })}
        </Link>
      ) : (
        memories.length > MAX_SHOWN && (
          <Button small look="quiet" className="mt-2" onClick={() => setAll(!all)}>
            {all ? t("memory.fewer") : t("memory.more", { count: memories.length - MAX_SHOWN })}
          </Button>
        )
      )}
    </section>
  );
}

export function Proposal({
  memory,
  replaces = false,
}: {
  memory: MemoryView;
  /** Whether it changes another memory: it is then taken with these words. */
  replaces?: boolean;
}) {
  const { accept, replace, reject } = useProposalWrites();
  const [words, setWords] = useState<string>();
  const domain = useDomainName(memory.domain);
  const yes = () => {
    if (replaces) return void replace(memory);
    const content = words?.trim();
    void accept(memory, content && content !== memory.content ? { content } : undefined);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") setWords(undefined);
    else if (event.key === "Enter" && !event.shiftKey) yes();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <li className="flex flex-col gap-2 rounded-control border bg-surface p-3">
      {words === undefined ? (
        <p dir="auto" className="font-medium">
          {shownContent(memory)}
        </p>
      ) : (
        <textarea
          // biome-ignore lint/a11y/noAutofocus: the user pressed Edit to type
          autoFocus
          dir="auto"
          rows={1}
          aria-label={t("memory.field.content")}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={press}
          className={`${INPUT} field-sizing-content resize-none py-1.5`}
        />
      )}
      {memory.reasoning && (
        <p dir="auto" className="text-meta text-muted">
          {memory.reasoning}
        </p>
      )}
      {memory.evidence.map((one) => {
        // What an assistant describes is not a quotation of the user.
        const Words = one.type === "quote" ? "blockquote" : "p";
        return (
          <Words
            key={`${one.turn_id ?? ""} ${one.description}`}
            dir="auto"
            className="border-s-2 border-line ps-2.5 text-meta text-muted"
          >
            {one.description}
          </Words>
        );
      })}
      <div className="mt-auto flex flex-wrap items-center gap-2">
        <Button small look="primary" onClick={yes}>
          {t(words === undefined ? "memory.answer.confirm" : "memory.answer.confirmEdited")}
        </Button>
        {words === undefined ? (
          !replaces && (
            <Button small onClick={() => setWords(memory.content)}>
              {t("memory.act.edit")}
            </Button>
          )
        ) : (
          <Button small onClick={() => setWords(undefined)}>
            {t("shell.cancel")}
          </Button>
        )}
        <Button small look="quiet" onClick={() => void reject(memory)}>
          {t("memory.answer.reject")}
        </Button>
        <span className="ms-auto flex items-center gap-2">
          <Force force={memory.force} />
          <SourceIcon source={sourceOf(memory)} />
          {domain && (
            <Badge>
              <bdi>{domain}</bdi>
            </Badge>
          )}
        </span>
      </div>
    </li>
  );
}
