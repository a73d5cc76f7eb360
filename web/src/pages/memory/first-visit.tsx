/**
 * The Memory page before the first memory: one question, a box for a list from another assistant, and cards
 * that connect assistants. It is replaced by the list when the first memory arrives.
 */
import { type FormEvent, useRef, useState } from "react";
import { useSignIn } from "../../base/sign-in.ts";
import { curl } from "../../data/curl.ts";
import { useImports } from "../../data/import-list.ts";
import { useSaveInArea } from "../../data/save-in-area.ts";
import { ConnectCards, ConnectCommand } from "../../features/connect/connect-cards.tsx";
import { PasteBox } from "../../features/paste/paste-box.tsx";
import { ImportedChats } from "../../features/sources/imported-chats.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Input } from "../../ui/field.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { isOpening, openingOf } from "./opening.ts";

const EXAMPLES = [
  "memory.first.example.1",
  "memory.first.example.2",
  "memory.first.example.3",
] as const;

/** `onWork(true)` keeps this page, although there are memories: some lines of a list were refused. */
export function FirstVisit({ onWork }: { onWork: (working: boolean) => void }) {
  const signIn = useSignIn();
  const imports = useImports().data ?? [];
  const command = curl("/api/memory", { content: t("memory.first.example.1") }, signIn);
  return (
    <div className="flex flex-col gap-8 px-4 pt-2 pb-12 sm:px-6">
      <ImportedChats imports={imports} />
      <Question />
      <Card title={t("memory.first.bring")}>
        <PasteBox onWork={onWork} whole />
      </Card>
      <section className="flex flex-col gap-3">
        <h2 className="font-semibold">{t("memory.first.connect")}</h2>
        <ConnectCards />
      </section>
      {command && (
        <Disclosure label={t("shell.forDevelopers")}>
          <p className="text-muted">{t("memory.first.api")}</p>
          <Snippet code={command} />
          <ConnectCommand />
        </Disclosure>
      )}
    </div>
  );
}

function Question() {
  const save = useSaveInArea();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const unfinished = !text.trim() || EXAMPLES.some((key) => isOpening(t(key), text));
  // Refused text stays in the field, so that it can be changed.
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || unfinished) return;
    setBusy(true);
    await save(text.trim(), t("memory.first.saved"));
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
      <h2 className="text-title">{t("memory.first.title")}</h2>
      <p className="text-muted">{t("memory.first.text")}</p>
      <div className="flex gap-2 max-sm:flex-col">
        <Input
          ref={input}
          dir="auto"
          aria-label={t("memory.first.title")}
          placeholder={t("memory.first.placeholder")}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="!h-11 text-lead"
        />
        <Button look="primary" type="submit" busy={busy} disabled={unfinished} className="!h-11">
          {t("shell.save")}
        </Button>
      </div>
      <div className="flex flex-wrap gap-1.5">
        {EXAMPLES.map((key) => (
          <Chip
            key={key}
            pressed={false}
            onPress={() => {
              setText(openingOf(t(key)));
              input.current?.focus();
            }}
          >
            {t(key)}
          </Chip>
        ))}
      </div>
    </form>
  );
}
