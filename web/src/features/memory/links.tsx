/** The links of a memory, and adding one. */

import { Link as RouterLink } from "@tanstack/react-router";
import { Link2, X } from "lucide-react";
import type { LinkView, MemoryView } from "lukasa-client";
import { type KeyboardEvent, useMemo, useState } from "react";
import { useLinkWrites } from "../../data/history.ts";
import { useLinks, useMemories } from "../../data/memories.ts";
import { select } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Select } from "../../ui/select.tsx";
import { labelFor } from "./labels.ts";

const RELATIONS = ["relates_to", "supersedes", "contradicts"] as const;
const MAX_FOUND = 6;

export function Links({ memory, readOnly }: { memory: MemoryView; readOnly: boolean }) {
  const links = useLinks(memory.id);
  const { unlink } = useLinkWrites(memory.id);
  const [adding, setAdding] = useState(false);
  const found = links.data ?? [];
  if (readOnly && found.length === 0) return null;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="flex items-center justify-between text-fine font-medium text-muted">
        {t("memory.part.links")}
        {!readOnly && memory.status === "active" && (
          <Button
            small
            look="quiet"
            className="-me-2"
            onClick={() => setAdding(!adding)}
            aria-expanded={adding}
          >
            <Link2 size={13} aria-hidden />
            {t("memory.link.add")}
          </Button>
        )}
      </h3>
      {adding && <AddLink memory={memory} linked={found} onDone={() => setAdding(false)} />}
      {found.length > 0 && (
        <ul className="flex flex-col rounded-control border">
          {found.map((link) => (
            <li
              key={link.id}
              className="flex items-center gap-2 border-b py-1 ps-3 pe-1 last:border-b-0"
            >
              <span className="shrink-0 text-fine text-muted">
                {labelFor("relation", link.relation)}
                {link.from_id !== memory.id && ` (${t("memory.link.incoming")})`}
              </span>
              <RouterLink
                to="/memory/$id"
                params={{ id: link.other?.id ?? otherOf(link, memory.id) }}
                dir="auto"
                className="min-w-0 flex-1 truncate py-1 text-ink"
              >
                {link.other ? shownContent(link.other) : t("memory.link.gone")}
              </RouterLink>
              {!readOnly && (
                <IconButton
                  small
                  label={t("memory.link.end")}
                  onClick={() =>
                    void unlink(link.id, link.other ? shownContent(link.other) : undefined)
                  }
                >
                  <X size={14} aria-hidden />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {found.length === 0 && !adding && (
        <p className="text-meta text-muted">{t("memory.link.none")}</p>
      )}
    </section>
  );
}

function otherOf(link: LinkView, id: string): string {
  return link.from_id === id ? link.to_id : link.from_id;
}

function AddLink({
  memory,
  linked,
  onDone,
}: {
  memory: MemoryView;
  linked: readonly LinkView[];
  onDone: () => void;
}) {
  const { all } = useMemories();
  const { link } = useLinkWrites(memory.id);
  const [text, setText] = useState("");
  const [relation, setRelation] = useState<string>("relates_to");
  const found = useMemo(() => {
    if (!text.trim()) return [];
    const there = new Set([memory.id, ...linked.map((one) => otherOf(one, memory.id))]);
    return select(all, { text, status: ["active"] })
      .filter((one) => !there.has(one.id))
      .slice(0, MAX_FOUND);
  }, [all, text, memory.id, linked]);
  const take = (other: MemoryView) => {
    void link(other, relation);
    onDone();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onDone();
    else if (event.key === "Enter" && found[0]) take(found[0]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex flex-col gap-2 rounded-control border bg-sunken p-2">
      <div className="flex gap-2">
        <Input
          autoFocus
          dir="auto"
          aria-label={t("memory.link.find")}
          placeholder={t("memory.link.find")}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
        />
        <div className="w-36 shrink-0">
          <Select
            label={t("memory.link.relation")}
            value={relation}
            choices={RELATIONS.map((one) => ({ value: one, text: labelFor("relation", one) }))}
            onChange={setRelation}
          />
        </div>
      </div>
      {found.length > 0 && (
        <ul aria-label={t("memory.link.found")}>
          {found.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                dir="auto"
                onClick={() => take(one)}
                className="w-full truncate rounded-control px-2 py-1.5 text-start hover:bg-hover"
              >
                {shownContent(one)}
              </button>
            </li>
          ))}
        </ul>
      )}
      {text.trim() && found.length === 0 && (
        <p className="px-2 text-meta text-muted">{t("shell.palette.none")}</p>
      )}
    </div>
  );
}
