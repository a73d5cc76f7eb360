/** An input to save a memory. It shows what the text is, the area it belongs to, and memories that say the same. */

import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useMemo, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { detectArea } from "../../data/area.ts";
import { useDomains } from "../../data/domains.ts";
import { fieldsOf, NEW_KINDS, type NewKind, suggestedKind } from "../../data/kind.ts";
import { useMemories } from "../../data/memories.ts";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { shownContent } from "../../data/shown-content.ts";
import { similarMemories } from "../../data/similar.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Input } from "../../ui/field.tsx";
import { FilterMenu } from "./filters.tsx";

/** Debounce of the typed text before the server is asked. */
const DETECT_DEBOUNCE_MS = 250;
const MAX_SIMILAR = 2;

export function Composer({ onDone }: { onDone: () => void }) {
  const { save } = useMemoryWrites();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const words = text.trim();
  const settled = useSettled(words);
  const { area, setArea } = useArea(settled);
  const { kind, setKind } = useKind(words, area !== undefined);
  const { all } = useMemories();
  const similar = useMemo(() => similarMemories(all, settled, MAX_SIMILAR), [all, settled]);
  const lacksArea = kind === "rule" && !area;
  // Refused text stays in the field, so that it can be changed.
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || !words || lacksArea) return;
    setBusy(true);
    const saved = await save({ content: words, domain: area, ...fieldsOf(kind, words) });
    setBusy(false);
    if (saved) onDone();
  };
  return (
    <form
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => event.key === "Escape" && onDone()}
      className="flex flex-col gap-2 border-t bg-sunken px-4 py-2 sm:px-6"
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
        <Button look="primary" type="submit" busy={busy} disabled={!words || lacksArea}>
          {t("shell.save")}
        </Button>
        <Button look="quiet" onClick={onDone} className="max-sm:hidden">
          {t("shell.cancel")}
        </Button>
      </div>
      {settled && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-meta text-muted">
          <AreaMenu area={area} onArea={setArea} />
          <fieldset className="flex gap-1.5">
            <legend className="sr-only">{t("memory.newKind")}</legend>
            {NEW_KINDS.map((one) => (
              <Chip key={one} pressed={kind === one} onPress={() => setKind(one)}>
                {t(`memory.newKind.${one}`)}
              </Chip>
            ))}
          </fieldset>
          <output className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {lacksArea && <span className="text-warn">{t("memory.hardNeeds")}</span>}
            {similar.map((one) => (
              <span key={one.id}>
                {t("memory.similarTo")}{" "}
                <Link to="/memory/$id" params={{ id: one.id }} dir="auto">
                  {shownContent(one)}
                </Link>
              </span>
            ))}
          </output>
        </div>
      )}
    </form>
  );
}

/** The kind that the words suggest, until the user chooses one. */
function useKind(text: string, hasArea: boolean) {
  const [chosen, setKind] = useState<NewKind>();
  const suggested = useMemo(() => suggestedKind(text, hasArea), [text, hasArea]);
  return { kind: chosen ?? suggested, setKind };
}

function AreaMenu({
  area,
  onArea,
}: {
  area: string | undefined;
  onArea: (area: string | undefined) => void;
}) {
  const { data } = useDomains();
  const choices = (data ?? [])
    // An area that is off saves nothing.
    .filter((one) => !one.requires_opt_in || one.opted_in_at)
    .map((one) => ({ value: one.name, text: domainName(one) }));
  return (
    <FilterMenu
      name={t("memory.field.domain")}
      value={area}
      any={t("memory.noDomain")}
      choices={choices}
      onChange={onArea}
    />
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

/** The area that the text belongs to, until the user chooses one or none. */
function useArea(text: string) {
  const lukasa = useLukasa();
  const [found, setFound] = useState<string>();
  const [chosen, setChosen] = useState<{ area: string | undefined }>();
  useEffect(() => {
    if (!text) return setFound(undefined);
    const controller = new AbortController();
    // Without an answer the memory is saved without an area.
    detectArea(lukasa, text, controller.signal).then(setFound, () => {});
    return () => controller.abort();
  }, [lukasa, text]);
  return {
    area: chosen ? chosen.area : found,
    setArea: (area: string | undefined) => setChosen({ area }),
  };
}
