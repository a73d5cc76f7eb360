/** A box for a pasted list of facts: split into lines, previewed, and saved with one undo. */
import { Link, useNavigate } from "@tanstack/react-router";
import { ClipboardPaste, Copy, FileUp } from "lucide-react";
import { useId, useMemo, useState } from "react";
import { explanationOf } from "../../base/problems.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { detectArea } from "../../data/area.ts";
import { useBatchSave } from "../../data/batch-writes.ts";
import { factsOf } from "../../data/paste.ts";
import { t } from "../../i18n/index.ts";
import { Button, buttonClasses, WRAPS } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { INPUT } from "../../ui/field.tsx";

/** `whole` adds a link to the import of a whole export. */
export function PasteBox({
  onWork,
  whole,
}: {
  onWork?: (working: boolean) => void;
  whole?: boolean;
}) {
  const lukasa = useLukasa();
  const navigate = useNavigate();
  const saveAll = useBatchSave();
  const [text, setText] = useState("");
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const [busy, setBusy] = useState(false);
  const facts = useMemo(() => factsOf(text), [text]);
  const chosen = facts.filter((fact) => !left.has(fact));
  const preview = useId();

  const write = (next: string) => {
    setText(next);
    setRefused(new Map());
  };
  const save = async () => {
    setBusy(true);
    onWork?.(true);
    const failed = new Map<string, string>();
    const times: string[] = [];
    const rest = facts.filter((fact) => left.has(fact));
    await saveAll(
      chosen.map((content) => ({
        content,
        save: async () => {
          const domain = await detectArea(lukasa, content).catch(() => undefined);
          try {
            const written = await lukasa.memories.save({ content, domain });
            // What is known already writes nothing.
            const at = written.event.operation_id && written.memory?.created_at;
            if (at) times.push(at);
            return written;
          } catch (error) {
            failed.set(content, explanationOf(error));
            throw error;
          }
        },
      })),
    );
    // What was refused stays, with the reason, so that it can be changed.
    setRefused(failed);
    setText([...failed.keys(), ...rest].join("\n"));
    setBusy(false);
    onWork?.(failed.size > 0);
    const [since] = times.sort();
    if (since && times.length > 1 && failed.size === 0)
      void navigate({ to: "/reveal", search: { since } });
  };
  const copy = async () => {
    await navigator.clipboard?.writeText(t("shell.paste.question"));
    showToast({ text: t("shell.copied"), about: t("shell.paste.question") });
  };
  return (
    <div className="flex flex-col gap-3">
      <p className="text-muted">{t("shell.paste.text")}</p>
      <blockquote className="flex flex-wrap items-center justify-between gap-2 rounded-control bg-sunken py-1.5 ps-3 pe-1.5">
        <span>{t("shell.paste.question")}</span>
        <Button small onClick={() => void copy()}>
          <Copy size={14} aria-hidden />
          {t("shell.copy")}
        </Button>
      </blockquote>
      <textarea
        dir="auto"
        rows={3}
        aria-label={t("shell.paste.label")}
        placeholder={t("shell.paste.placeholder")}
        value={text}
        onChange={(event) => write(event.target.value)}
        className={`${INPUT} field-sizing-content max-h-60 min-h-24 py-2`}
      />
      {facts.length > 0 && (
        <section aria-labelledby={preview} className="flex flex-col gap-2">
          <h3 id={preview} className="font-semibold">
            {t("shell.paste.preview", { count: facts.length })}
          </h3>
          <ul className="flex max-h-80 flex-col overflow-y-auto rounded-control border bg-surface px-3 py-1.5">
            {facts.map((fact) => (
              <li key={fact} className="py-0.5">
                <Checkbox
                  checked={!left.has(fact)}
                  onChange={(keep) => {
                    const next = new Set(left);
                    if (keep) next.delete(fact);
                    else next.add(fact);
                    setLeft(next);
                  }}
                  label={
                    <>
                      <span dir="auto">{fact}</span>
                      {refused.has(fact) && (
                        <span className="block text-meta text-bad">{refused.get(fact)}</span>
                      )}
                    </>
                  }
                />
              </li>
            ))}
          </ul>
          <div>
            <Button
              look="primary"
              busy={busy}
              disabled={chosen.length === 0}
              onClick={() => void save()}
            >
              {!busy && <ClipboardPaste size={15} aria-hidden />}
              {t("shell.paste.save", { count: chosen.length })}
            </Button>
          </div>
        </section>
      )}
      {whole && (
        <div>
          <Link to="/data" className={`${buttonClasses("plain")} ${WRAPS}`}>
            <FileUp size={15} aria-hidden />
            {t("shell.paste.whole")}
          </Link>
        </div>
      )}
    </div>
  );
}
