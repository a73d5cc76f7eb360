/** An input to save a memory. */
import { type FormEvent, useState } from "react";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";

export function Composer({ onDone }: { onDone: () => void }) {
  const { save } = useMemoryWrites();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  // Refused text stays in the field, so that it can be changed.
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || !text.trim()) return;
    setBusy(true);
    const saved = await save(text.trim());
    setBusy(false);
    if (saved) onDone();
  };
  return (
    <form
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => event.key === "Escape" && onDone()}
      className="flex items-center gap-2 border-t bg-sunken px-4 py-2 sm:px-6"
    >
      <Input
        autoFocus
        dir="auto"
        aria-label={t("memory.addLabel")}
        placeholder={t("memory.addPlaceholder")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button look="primary" type="submit" busy={busy} disabled={!text.trim()}>
        {t("shell.save")}
      </Button>
    </form>
  );
}
