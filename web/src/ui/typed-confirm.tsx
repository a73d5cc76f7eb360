/**
 * Confirmation of an action that cannot be undone: shows what would be removed and asks for a word to type.
 * Afterwards the same dialog can show a result.
 */
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
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
  action,
  onConfirm,
  ready = true,
  done,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  text?: ReactNode;
  /** The text to type: a name, so that it is not typed by habit. Case-insensitive. */
  word: string;
  /** The label of the button. */
  action: string;
  onConfirm: () => Promise<unknown>;
  /** Whether it is known what would be removed. */
  ready?: boolean;
  /** The result to show afterwards. */
  done?: { title: ReactNode; text?: ReactNode; content: ReactNode };
  children?: ReactNode;
}) {
  const form = useId();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const close = useRef<HTMLButtonElement>(null);
  const over = done !== undefined;
  useEffect(() => {
    if (!over) return;
    // The pressed button no longer exists, and the dialog itself takes the focus first.
    const timer = setTimeout(() => close.current?.focus(), 0);
    return () => clearTimeout(timer);
  }, [over]);
  // Phone keyboards start with a capital letter.
  const fits = typed.trim().toLowerCase() === word.trim().toLowerCase();
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
  if (done) {
    return (
      <Dialog
        wide
        open={open}
        onOpenChange={onOpenChange}
        title={done.title}
        text={done.text}
        actions={
          <Button ref={close} look="primary" onClick={() => onOpenChange(false)}>
            {t("shell.close")}
          </Button>
        }
      >
        {done.content}
      </Dialog>
    );
  }
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
            {action}
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
            autoCapitalize="none"
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
          />
        </Field>
      </form>
    </Dialog>
  );
}
