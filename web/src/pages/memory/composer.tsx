/** An input to save a memory. It shows the area that the text belongs to, and memories that say the same. */
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useMemo, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { detectArea } from "../../data/area.ts";
import { useDomains } from "../../data/domains.ts";
import { useMemories } from "../../data/memories.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { similarMemories } from "../../data/similar.ts";
import { useDomainName } from "../../features/memory/labels.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Input } from "../../ui/field.tsx";

/** Debounce of the typed text before the server is asked. */
const DETECT_DEBOUNCE_MS = 250;
const MAX_SIMILAR = 2;

export function Composer({ onDone }: { onDone: () => void }) {
  const { save } = useMemoryWrites();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const settled = useSettled(text.trim());
  const { area, dismiss } = useArea(settled);
  const areaName = useDomainName(area);
  const { all } = useMemories();
  const similar = useMemo(() => similarMemories(all, settled, MAX_SIMILAR), [all, settled]);
  // Refused text stays in the field, so that it can be changed.
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || !text.trim()) return;
    setBusy(true);
    const saved = await save({ content: text.trim(), domain: area });
    setBusy(false);
    if (saved) onDone();
  };
  return (
    <form
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => event.key === "Escape" && onDone()}
      className="flex flex-col gap-1.5 border-t bg-sunken px-4 py-2 sm:px-6"
    >
      <div className="flex items-center gap-2">
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
        <Button look="quiet" onClick={onDone} className="max-sm:hidden">
          {t("shell.cancel")}
        </Button>
      </div>
      {(areaName || similar.length > 0) && (
        <output className="flex flex-wrap items-center gap-x-3 gap-y-1 text-meta text-muted">
          {areaName && (
            <Chip onRemove={dismiss} removeLabel={t("memory.noDomain")}>
              {t("memory.field.domain")}: <bdi>{areaName}</bdi>
            </Chip>
          )}
          {similar.map((one) => (
            <span key={one.id}>
              {t("memory.similarTo")}{" "}
              <Link to="/memory/$id" params={{ id: one.id }} dir="auto">
                {one.content}
              </Link>
            </span>
          ))}
        </output>
      )}
    </form>
  );
}

/** The text once typing has paused. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), DETECT_DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** The area of a text; `dismiss` saves without one. */
function useArea(text: string): { area: string | undefined; dismiss: () => void } {
  const lukasa = useLukasa();
  const { data: domains } = useDomains();
  const [area, setArea] = useState<string>();
  const [dismissed, setDismissed] = useState(false);
  useEffect(() => {
    if (!text || !domains) return setArea(undefined);
    const controller = new AbortController();
    // Without an answer the memory is saved without an area.
    detectArea(lukasa, text, domains, controller.signal).then(setArea, () => {});
    return () => controller.abort();
  }, [lukasa, text, domains]);
  return { area: dismissed ? undefined : area, dismiss: () => setDismissed(true) };
}
