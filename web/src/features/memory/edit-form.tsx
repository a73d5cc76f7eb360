/** Form to edit a memory in place: text, area, force and dates. */
import type { MemoryView, UpdateMemory } from "lukasa-client";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useDomains } from "../../data/domains.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { INPUT, Input } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Select } from "../../ui/select.tsx";

type Mode = "change" | "correction";

interface Draft {
  content: string;
  domain: string;
  force: string;
  key: string;
  value: string;
  from: string;
  until: string;
  mode: Mode;
}

function draftOf(memory: MemoryView): Draft {
  const { value } = memory;
  return {
    content: memory.content,
    domain: memory.domain ?? "",
    force: memory.force,
    key: memory.key ?? "",
    value: typeof value === "string" ? value : value == null ? "" : JSON.stringify(value),
    from: memory.valid_from.slice(0, 10),
    until: memory.valid_until?.slice(0, 10) ?? "",
    mode: "change",
  };
}

/** The value of a rule as typed: JSON if it is a list, an object or a number, else a text. */
function typedValue(typed: string): unknown {
  if (!/^[[{\d-]/.test(typed)) return typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** The changed fields as an update; undefined if nothing changed. */
export function changesOf(memory: MemoryView, draft: Draft): UpdateMemory | undefined {
  const was = draftOf(memory);
  const changes: UpdateMemory = {};
  if (draft.content.trim() && draft.content.trim() !== was.content)
    changes.content = draft.content.trim();
  if (draft.domain !== was.domain) changes.domain = draft.domain || null;
  if (draft.force !== was.force) changes.force = draft.force;
  if (draft.force === "hard") {
    if (draft.key.trim() !== was.key) changes.key = draft.key.trim();
    if (draft.value.trim() !== was.value) changes.value = typedValue(draft.value.trim());
  }
  const redated = draft.from !== was.from || draft.until !== was.until;
  if (draft.from !== was.from && draft.from) changes.valid_from = `${draft.from}T00:00:00Z`;
  if (draft.until !== was.until)
    changes.valid_until = draft.until ? `${draft.until}T00:00:00Z` : null;
  if (Object.keys(changes).length === 0) return undefined;
  // New dates or another area for the same text are a correction, not a change.
  const same = changes.content === undefined;
  changes.mode = redated || same ? "correction" : draft.mode;
  return changes;
}

/** Refused drafts by memory, restored when it is edited again. */
const refused = new Map<string, Draft>();

export function EditForm({ memory, onDone }: { memory: MemoryView; onDone: () => void }) {
  const { update } = useMemoryWrites();
  const domains = useDomains();
  const [draft, setDraft] = useState(() => refused.get(memory.id) ?? draftOf(memory));
  const set = (change: Partial<Draft>) => setDraft((was) => ({ ...was, ...change }));
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const changes = changesOf(memory, draft);
    refused.delete(memory.id);
    if (changes)
      void update(memory, changes).then((written) => !written && refused.set(memory.id, draft));
    onDone();
  };
  const leave = () => {
    refused.delete(memory.id);
    onDone();
  };
  const press = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      leave();
    } else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
  };
  const known = domains.data ?? [];
  const choices = [
    { value: "", text: t("memory.noDomain") },
    // A domain that is off saves nothing, so nothing can be moved there.
    ...known
      .filter((one) => !one.requires_opt_in || one.opted_in_at || one.name === memory.domain)
      .map((one) => ({ value: one.name, text: domainName(one) })),
  ];
  const enter = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
  };
  return (
    <form
      aria-label={t("memory.act.edit")}
      onSubmit={submit}
      onKeyDown={press}
      className="flex flex-col gap-2.5"
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the user pressed E to type
        autoFocus
        dir="auto"
        rows={1}
        aria-label={t("memory.field.content")}
        value={draft.content}
        onFocus={(event) => event.target.setSelectionRange(-1, -1)}
        onChange={(event) => set({ content: event.target.value })}
        onKeyDown={enter}
        className={`${INPUT} field-sizing-content min-h-control resize-none py-1.5`}
      />
      <div className="flex flex-wrap items-end gap-2 text-meta">
        <Labelled text={t("memory.field.domain")} wide>
          <Select
            label={t("memory.field.domain")}
            value={draft.domain}
            choices={choices}
            onChange={(domain) => set({ domain })}
          />
        </Labelled>
        <Labelled text={t("memory.field.force")}>
          <Select
            label={t("memory.field.force")}
            value={draft.force}
            choices={[
              { value: "soft", text: t("shell.force.soft") },
              { value: "hard", text: t("shell.force.hard") },
            ]}
            onChange={(force) => set({ force })}
          />
        </Labelled>
        {draft.force === "hard" && (
          <>
            <Labelled text={t("memory.field.key")}>
              <Input
                aria-label={t("memory.field.key")}
                value={draft.key}
                onChange={(event) => set({ key: event.target.value })}
              />
            </Labelled>
            <Labelled text={t("memory.field.value")}>
              <Input
                aria-label={t("memory.field.value")}
                value={draft.value}
                onChange={(event) => set({ value: event.target.value })}
              />
            </Labelled>
          </>
        )}
        <Labelled text={t("memory.field.from")}>
          <Input
            type="date"
            aria-label={t("memory.field.from")}
            value={draft.from}
            onChange={(event) => set({ from: event.target.value })}
          />
        </Labelled>
        <Labelled text={t("memory.field.until")}>
          <Input
            type="date"
            aria-label={t("memory.field.until")}
            value={draft.until}
            onChange={(event) => set({ until: event.target.value })}
          />
        </Labelled>
        {draft.content.trim() !== memory.content && (
          <Labelled text={t("memory.field.mode")} wide>
            <Select
              label={t("memory.field.mode")}
              value={draft.mode}
              choices={[
                { value: "change", text: t("memory.mode.change") },
                { value: "correction", text: t("memory.mode.correction") },
              ]}
              onChange={(mode) => set({ mode })}
            />
          </Labelled>
        )}
      </div>
      {draft.force === "hard" && (!draft.domain || !draft.key.trim()) && (
        <p className="text-meta text-warn">{t("memory.hardNeeds")}</p>
      )}
      <div className="flex items-center gap-2">
        <Button
          small
          look="primary"
          type="submit"
          disabled={draft.force === "hard" && (!draft.domain || !draft.key.trim())}
        >
          {t("shell.save")}
          <Kbd keys="enter" inverse />
        </Button>
        <Button small look="quiet" onClick={leave}>
          {t("shell.cancel")}
          <Kbd keys="escape" />
        </Button>
      </div>
    </form>
  );
}

function Labelled({
  text,
  wide,
  children,
}: {
  text: string;
  wide?: boolean;
  children: React.ReactNode;
}) {
  return (
    <div className={`flex flex-col gap-1 ${wide ? "w-44" : "w-36"}`}>
      <span aria-hidden className="text-fine text-muted">
        {text}
      </span>
      {children}
    </div>
  );
}
