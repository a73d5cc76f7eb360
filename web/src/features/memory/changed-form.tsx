/** Form for a memory that was true and is no more: what is true now, and since when. */
import type { MemoryView } from "lukasa-client";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { changeOf, localDay } from "../../data/change.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";

export function ChangedForm({
  memory,
  onDone,
}: {
  memory: MemoryView;
  /** Receives whether something was sent. */
  onDone: (sent: boolean) => void;
}) {
  const { update } = useMemoryWrites();
  const [text, setText] = useState("");
  const [since, setSince] = useState(() => localDay(new Date()));
  const today = localDay(new Date());
  const words = text.trim();
  const send = (content: string) => {
    void update(memory, changeOf(content, since, new Date()));
    onDone(true);
  };
  const press = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    event.preventDefault();
    onDone(false);
  };
  return (
    <form
      aria-label={t("memory.act.changed")}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (words) send(words);
      }}
      onKeyDown={press}
      className="flex flex-col gap-3 rounded-control border bg-sunken p-3"
    >
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-52 flex-1">
          <Field label={t("memory.changed.ask")}>
            <Input
              autoFocus
              dir="auto"
              value={text}
              placeholder={memory.content}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
        </div>
        <div className="w-36 max-sm:w-full">
          <Field label={t("memory.changed.since")}>
            <Input
              type="date"
              max={today}
              value={since}
              onChange={(event) => setSince(event.target.value)}
            />
          </Field>
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2 max-sm:*:flex-1">
        <Button small look="primary" type="submit" disabled={!words}>
          {t("shell.save")}
          <Kbd keys="enter" inverse />
        </Button>
        <Button small disabled={words !== ""} onClick={() => send("")}>
          {t("memory.changed.end")}
        </Button>
        <Button small look="quiet" onClick={() => onDone(false)}>
          {t("shell.cancel")}
          <Kbd keys="escape" />
        </Button>
      </div>
    </form>
  );
}
