/**
 * Correcting a memory in at most three clicks: it is wrong (what is true?), it is outdated (what is true
 * now?), it should not be mentioned, or it is not about this user.
 */

import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import type { MemoryView, Written } from "lukasa-client";
import { type KeyboardEvent, useRef, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { answersIn, useUsage } from "../../data/sources.ts";
import { useWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { LINK } from "./evidence.tsx";

export const FIXES = ["wrong", "outdated", "mention", "other"] as const;
export type Fault = (typeof FIXES)[number];
export const FIX_KEYS: Record<Fault, string> = {
  wrong: "w",
  outdated: "o",
  mention: "m",
  other: "n",
};

/** The latest fix, so that its result stays visible after the memory left the page. */
export interface Fixed {
  fault: Fault;
  operation?: string;
}

export function useFix(memory: MemoryView) {
  const lukasa = useLukasa();
  const write = useWrite();
  const usage = useUsage(memory.id);
  const answers = answersIn(usage.data ?? []).length;
  const [asking, setAsking] = useState<"wrong" | "outdated">();
  const [fixed, setFixed] = useState<Fixed>();
  const send = async (fault: Fault, run: () => Promise<Written>, words?: string) => {
    setAsking(undefined);
    setFixed({ fault });
    const written = await write({
      say: answers > 0 ? t("sources.fix.doneUsed", { count: answers }) : t("sources.fix.done"),
      about: words ?? memory.content,
      run,
    });
    setFixed(written && { fault, operation: written.event.operation_id ?? undefined });
  };
  return {
    asking,
    fixed,
    answers,
    cancel: () => setAsking(undefined),
    undone: (operation: string | null | undefined) =>
      setFixed((now) => (now?.operation && now.operation === operation ? undefined : now)),
    begin: (fault: Fault) => {
      if (fault === "wrong" || fault === "outdated") setAsking(fault);
      else if (fault === "mention") void send(fault, () => lukasa.memories.forget(memory.id));
      else void send(fault, () => lukasa.memories.delete(memory.id));
    },
    /** New text replaces the memory; without text, its validity ends now. */
    say: (words: string) => {
      if (!asking) return;
      const now = new Date().toISOString();
      const changes =
        asking === "wrong"
          ? { mode: "correction", content: words }
          : words
            ? { mode: "change", content: words }
            : { mode: "correction", valid_until: now };
      void send(asking, () => lukasa.memories.update(memory.id, changes), words || undefined);
    },
  };
}

export function FixBar({
  memory,
  fix,
  keys,
}: {
  memory: MemoryView;
  fix: ReturnType<typeof useFix>;
  /** Whether the shortcuts apply to this memory. */
  keys?: boolean;
}) {
  if (fix.fixed) {
    return (
      <p className="flex min-h-small flex-wrap items-center gap-x-2 text-meta text-good">
        <Check size={14} aria-hidden />
        {t(`sources.fix.did.${fix.fixed.fault}`)}
        {fix.answers > 0 && (
          <Link to="/sources" search={{ memory: memory.id }} hash="answers" className={LINK}>
            {t("sources.fix.answers", { count: fix.answers })}
          </Link>
        )}
      </p>
    );
  }
  if (fix.asking) return <Ask key={fix.asking} fault={fix.asking} fix={fix} />;
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">{t("sources.fix.name")}</legend>
      {FIXES.map((fault) => (
        <Button key={fault} small onClick={() => fix.begin(fault)}>
          {t(`sources.fix.${fault}`)}
          {keys && <Kbd keys={FIX_KEYS[fault]} />}
        </Button>
      ))}
    </fieldset>
  );
}

function Ask({ fault, fix }: { fault: "wrong" | "outdated"; fix: ReturnType<typeof useFix> }) {
  const [words, setWords] = useState("");
  const text = words.trim();
  const may = text !== "" || fault === "outdated";
  const form = useRef<HTMLFormElement>(null);
  // The focused form is about to be removed; focus the memory, so that shortcuts keep working.
  const leave = (then: () => void) => {
    form.current?.closest<HTMLElement>("[data-memory]")?.focus();
    then();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") leave(fix.cancel);
  };
  return (
    <form
      ref={form}
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (may) leave(() => fix.say(text));
      }}
    >
      <div className="min-w-56 flex-1">
        <Field label={t(`sources.fix.ask.${fault}`)}>
          <Input
            autoFocus
            dir="auto"
            value={words}
            placeholder={t(`sources.fix.hint.${fault}`)}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={press}
          />
        </Field>
      </div>
      <Button look="primary" type="submit" disabled={!may}>
        {fault === "outdated" && !text ? t("sources.fix.end") : t("shell.save")}
      </Button>
      <Button look="quiet" onClick={() => leave(fix.cancel)}>
        {t("shell.cancel")}
      </Button>
    </form>
  );
}
