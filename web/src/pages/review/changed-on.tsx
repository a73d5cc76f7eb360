/** The day on which one side of a contradiction replaced the other. */
import type { MemoryView } from "lukasa-client";
import { useState } from "react";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Popover } from "../../ui/popover.tsx";

export function ChangedOn({
  memory,
  open,
  onOpen,
  onDay,
}: {
  /** The side that is true now. */
  memory: MemoryView;
  open: boolean;
  onOpen: (open: boolean) => void;
  onDay: (day: string) => void;
}) {
  const [day, setDay] = useState(memory.valid_from.slice(0, 10));
  return (
    <Popover
      open={open}
      onOpenChange={onOpen}
      trigger={
        <Button look="quiet" className="max-sm:h-11">
          {t("review.side.changed")}
          <Kbd keys="4" />
        </Button>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          onOpen(false);
          onDay(`${day}T00:00:00Z`);
        }}
      >
        <p dir="auto" className="text-muted">
          {t("review.changed.text", { memory: memory.content })}
        </p>
        <Field label={t("review.changed.day")}>
          <Input
            type="date"
            required
            autoFocus
            value={day}
            onChange={(event) => setDay(event.target.value)}
          />
        </Field>
        <Button look="primary" type="submit" disabled={!day}>
          {t("shell.save")}
        </Button>
      </form>
    </Popover>
  );
}
