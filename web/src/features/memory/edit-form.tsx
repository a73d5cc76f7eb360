/** Form to edit a memory in place: text, area, force and dates. */
import type { MemoryView, UpdateMemory } from "lukasa-client";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useDomains } from "../../data/domains.ts";
import { ruleKey } from "../../data/kind.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { INPUT, Input } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Select } from "../../ui/select.tsx";

interface Draft {
  content: string;
  domain: string;
  force: string;
  key: string;
  value: string;
  from: string;
  until: string;
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

/**
 * The changed fields as an update; undefined if nothing changed. It is a correction: the memory never was as it
 * said. For one that was true until now there is another form.
 */
export function changesOf(memory: MemoryView, draft: Draft): UpdateMemory | undefined {
  const was = draftOf(memory);
  const changes: UpdateMemory = {};
  if (draft.content.trim() && draft.content.trim() !== was.content)
    changes.content = draft.content.trim();
  if (draft.domain !== was.domain) changes.domain = draft.domain || null;
  if (draft.force !== was.force) changes.force = draft.force;
  if (draft.force === "hard") {
    const key = draft.key.trim() || ruleKey(draft.content);
    if (key !== was.key) changes.key = key;
    if (draft.value.trim() !== was.value) changes.value = typedValue(draft.value.trim());
  }
  if (draft.from !== was.from && draft.from) changes.valid_from = `${draft.from}T00:00:00Z`;
  if (draft.until !== was.until)
    changes.valid_until = draft.until ? `${draft.until}T00:00:00Z` : null;
  if (Object.keys(changes).length === 0) return undefined;
  changes.mode = "correction";
  return changes;
}

/** Refused drafts by memory, restored when it is edited again. */
const refused = new Map<string, Draft>();

export function EditForm({
  memory,
  onDone,
  brief,
}: {
  memory: MemoryView;
  /** Only the text. */
  brief?: boolean;
  /** Receives whether something was sent. */
  onDone: (sent: boolean) => void;
}) {
  const { update } = useMemoryWrites();
  const domains = useDomains();
  const [draft, setDraft] = useState(() => refused.get(memory.id) ?? draftOf(memory));
  const set = (change: Partial<Draft>) => setDraft((was) => ({ ...was, ...change }));
  const lacksArea = draft.force === "hard" && !draft.domain;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (lacksArea) return;
    const changes = changesOf(memory, draft);
    refused.delete(memory.id);
    if (changes)
      void update(memory, changes).then((written) => !written && refused.set(memory.id, draft));
    onDone(changes !== undefined);
  };
  const leave = () => {
    refused.delete(memory.id);
    onDone(false);
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
      aria-label={t("memory.act.correct")}
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
      <div
        hidden={brief}
        className="flex flex-wrap items-end gap-2 text-meta max-sm:grid max-sm:grid-cols-2"
      >
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
      </div>
      {draft.force === "hard" && (
        <Disclosure label={t("memory.ruleKey")}>
          <div className="flex flex-wrap gap-2 max-sm:grid max-sm:grid-cols-2">
            <Labelled text={t("memory.field.key")} wide>
              <Input
                aria-label={t("memory.field.key")}
                placeholder={ruleKey(draft.content)}
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
          </div>
        </Disclosure>
      )}
      {lacksArea && <p className="text-meta text-warn">{t("memory.hardNeeds")}</p>}
      <div className="flex items-center gap-2 max-sm:*:flex-1">
        <Button small look="primary" type="submit" disabled={lacksArea}>
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
    <div className={`flex flex-col gap-1 max-sm:w-full ${wide ? "sm:w-44" : "sm:w-36"}`}>
      <span aria-hidden className="text-fine text-muted">
        {text}
      </span>
      {children}
    </div>
  );
}
