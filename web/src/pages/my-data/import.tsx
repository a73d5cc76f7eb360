/** Import of a file: preview, import, and undo. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import type { CountsView, ImportView } from "lukasa-client";
import { type DragEvent, useRef, useState } from "react";
import { sentenceOf } from "../../base/problems.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { countTexts, type ImportFile, readImportFile, runImport } from "../../data/imports.ts";
import { PasteBox } from "../../features/paste/paste-box.tsx";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Time } from "../../ui/time.tsx";
import { ImportDecision } from "./import-decision.tsx";

interface Preview {
  file: ImportFile;
  counts: CountsView;
}

export function Import() {
  const lukasa = useLukasa();
  const { local, admin } = useSignIn();
  const queries = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState(false);
  const [preview, setPreview] = useState<Preview>();
  const [error, setError] = useState<unknown>();
  useShortcuts(t("data.title"), [
    { keys: "i", label: t("data.import.choose"), run: () => picker.current?.click() },
  ]);

  const during = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    await work()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  const look = (file: File | undefined) =>
    file &&
    during(async () => {
      setPreview(undefined);
      const read = await readImportFile(file);
      setPreview({ file: read, counts: await runImport(lukasa, read, true) });
    });
  const take = ({ file }: Preview) =>
    during(async () => {
      const counts = await runImport(lukasa, file, false);
      setPreview(undefined);
      showToast({ text: t("data.import.taken"), about: countTexts(counts).join(", ") });
      await queries.invalidateQueries();
    });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void look(event.dataTransfer.files[0]);
  };
  return (
    <>
      <Card title={t("data.paste.title")}>
        <PasteBox />
      </Card>
      <Card title={t("data.import.title")} flush>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping a file is an alternative to the button */}
        <div
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
          className={classes("flex flex-col gap-4 p-4", over && "bg-accent-soft")}
        >
          <p className="max-w-prose">{t("data.import.text")}</p>
          <div className="flex flex-wrap items-center gap-3">
            <Button busy={busy && !preview} onClick={() => picker.current?.click()}>
              {!busy && <Upload size={15} aria-hidden />}
              {t("data.import.choose")}
              <Kbd keys="i" />
            </Button>
            <span className="text-meta text-muted max-sm:hidden">{t("data.import.drop")}</span>
            <input
              ref={picker}
              type="file"
              className="hidden"
              tabIndex={-1}
              aria-label={t("data.import.choose")}
              accept=".zip,.jsonl,.ndjson,application/zip"
              onChange={(event) => {
                void look(event.target.files?.[0]);
                event.target.value = "";
              }}
            />
          </div>
          {error !== undefined && <ProblemCard error={error} />}
          {preview && (
            <section
              aria-label={t("data.import.would")}
              className="flex flex-col gap-3 rounded-control border bg-sunken p-4"
            >
              <h3 className="font-medium">
                <bdi>{preview.file.name}</bdi>
              </h3>
              <Counts counts={preview.counts} />
              <div className="flex gap-2">
                {countTexts(preview.counts).length > 0 && (
                  <Button look="primary" busy={busy} onClick={() => void take(preview)}>
                    {t("data.import.take")}
                  </Button>
                )}
                <Button look="quiet" disabled={busy} onClick={() => setPreview(undefined)}>
                  {t("shell.cancel")}
                </Button>
              </div>
            </section>
          )}
          {(local || admin) && (
            <Disclosure label={t("shell.forDevelopers")}>
              <p className="text-meta text-muted">{t("data.import.others")}</p>
              <Snippet code="lukasa import chatgpt export.zip --dry-run" />
            </Disclosure>
          )}
        </div>
        <Imports />
      </Card>
    </>
  );
}

function Counts({ counts }: { counts: CountsView }) {
  const texts = countTexts(counts);
  if (texts.length === 0) return <p className="text-muted">{t("data.import.nothing")}</p>;
  return (
    <ul className="flex flex-col gap-1">
      {texts.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function Imports() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const imports = useQuery({
    queryKey: ["operations", "imports"],
    queryFn: ({ signal }) => lukasa.imports.list({ signal }),
  });
  const undo = async (one: ImportView) => {
    try {
      const back = await lukasa.imports.undo(one.id);
      showToast({
        text: t("data.import.undone"),
        about: back.kept > 0 ? t("data.import.kept", { count: back.kept }) : one.name,
      });
      await queries.invalidateQueries();
    } catch (error) {
      showToast({ text: sentenceOf(error), tone: "bad" });
    }
  };
  if (!imports.data?.length) return null;
  return (
    <section aria-label={t("data.import.list")} className="border-t">
      <h3 className="px-4 pt-3 pb-1 text-fine text-muted">{t("data.import.list")}</h3>
      <ul className="divide-y divide-line">
        {imports.data.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
            <div className="min-w-0 flex-1 basis-56">
              <bdi className="block truncate">{one.name || one.format}</bdi>
              <span className="text-meta text-muted">{countTexts(one.counts).join(" · ")}</span>
            </div>
            <span className="text-meta text-muted">
              <Time at={one.last_at} />
            </span>
            {one.undone_at ? (
              <Badge>{t("data.import.wasUndone")}</Badge>
            ) : (
              <Button small onClick={() => void undo(one)}>
                {t("shell.undo.undo")}
              </Button>
            )}
            {!one.undone_at && one.undecided > 0 && <ImportDecision one={one} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
