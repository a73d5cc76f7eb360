/** Asks before something that nothing brings back: what would go, and a word to type. */
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { t } from "../i18n/index.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field, Input } from "./field.tsx";

export function TypedConfirm({
  open,
  onOpenChange,
  title,
  text,
  word,
  act,
  onConfirm,
  ready = true,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  text?: ReactNode;
  /** What has to be typed: a name, so that nobody types it by habit. */
  word: string;
  /** What the button says. */
  act: string;
  onConfirm: () => Promise<unknown>;
  /** Whether what would go is known yet. */
  ready?: boolean;
  children?: ReactNode;
}) {
  const form = useId();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const fits = typed.trim() === word;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!fits || !ready) return;
    setBusy(true);
    await onConfirm().finally(() => setBusy(false));
    setTyped("");
  };
  const change = (next: boolean) => {
    if (busy) return;
    if (!next) setTyped("");
    onOpenChange(next);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={title}
      text={text}
      actions={
        <>
          <Button onClick={() => change(false)} disabled={busy}>
            {t("shell.cancel")}
          </Button>
          <Button look="danger" type="submit" form={form} busy={busy} disabled={!fits || !ready}>
            {act}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        {children}
        <Field label={t("shell.typed.label", { word })}>
          <Input
            dir="auto"
            value={typed}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
          />
        </Field>
      </form>
    </Dialog>
  );
}
