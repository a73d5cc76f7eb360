/** The day on which one side of a contradiction replaced the other. */
import { useState } from "react";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Popover } from "../../ui/popover.tsx";
import { startOf } from "./contradictions.ts";

export function ChangedOn({
  text,
  day: first,
  disabled,
  open,
  onOpen,
  onDay,
}: {
  /** What the answer means. */
  text: string;
  /** The day that is shown first; with none a day is optional. */
  day?: string;
  disabled?: boolean;
  open: boolean;
  onOpen: (open: boolean) => void;
  onDay: (day?: string) => void;
}) {
  const [day, setDay] = useState(first ?? "");
  return (
    <Popover
      open={open}
      onOpenChange={onOpen}
      trigger={
        <Button look="quiet" disabled={disabled} className="max-sm:h-11">
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
          onDay(day ? startOf(day) : undefined);
        }}
      >
        <p dir="auto" className="text-muted">
          {text}
        </p>
        <Field label={t("review.changed.day")}>
          <Input
            type="date"
            required={first !== undefined}
            autoFocus
            value={day}
            onChange={(event) => setDay(event.target.value)}
          />
        </Field>
        <Button look="primary" type="submit" disabled={!day && first !== undefined}>
          {t("shell.save")}
        </Button>
      </form>
    </Popover>
  );
}
