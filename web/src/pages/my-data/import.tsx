/** Import of a file: preview, import, and undo. */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import type { Lukasa } from "lukasa-client";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { showFailure } from "../../base/failures.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { useImports } from "../../data/import-list.ts";
import { countTexts, type ImportProgress, readImportFile, runImport } from "../../data/imports.ts";
import { announceUndo, forgetUndo } from "../../data/writes.ts";
import { PasteBox } from "../../features/paste/paste-box.tsx";
import { ImportedChats } from "../../features/sources/imported-chats.tsx";
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
import { ImportPreview, type Preview } from "./import-preview.tsx";

/** A running pass over the file. */
interface Running {
  what: "read" | "import";
  progress?: ImportProgress;
}

export function Import() {
  const lukasa = useLukasa();
  const { local, admin } = useSignIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const picker = useRef<HTMLInputElement>(null);
  const abort = useRef<AbortController>(undefined);
  const [over, setOver] = useState(false);
  const [running, setRunning] = useState<Running>();
  const [preview, setPreview] = useState<Preview>();
  /** The import that this page just made, if it has nothing to decide. */
  const [taken, setTaken] = useState<string>();
  const [error, setError] = useState<unknown>();
  const brought = (useImports().data ?? []).filter((one) => one.id === taken);
  useShortcuts(t("data.title"), [
    { keys: "i", label: t("data.import.choose"), run: () => picker.current?.click() },
  ]);
  useEffect(() => () => abort.current?.abort(), []);

  const during = async (
    what: Running["what"],
    work: (options: {
      signal: AbortSignal;
      onProgress: (progress: ImportProgress) => void;
    }) => Promise<void>,
  ) => {
    abort.current?.abort();
    const own = new AbortController();
    abort.current = own;
    setRunning({ what });
    setError(undefined);
    try {
      const onProgress = (progress: ImportProgress) => setRunning({ what, progress });
      await work({ signal: own.signal, onProgress });
    } catch (failed) {
      if (!own.signal.aborted) setError(failed);
    } finally {
      if (abort.current === own) setRunning(undefined);
    }
  };
  const look = (chosen: File | undefined) =>
    chosen &&
    during("read", async (options) => {
      setPreview(undefined);
      setTaken(undefined);
      const file = await readImportFile(chosen);
      setPreview({ file, result: await runImport(lukasa, file, { ...options, dryRun: true }) });
    });
  const take = ({ file }: Preview) =>
    during("import", async (options) => {
      try {
        const { importId, counts } = await runImport(lukasa, file, { ...options, dryRun: false });
        setPreview(undefined);
        announceUndo({
          id: importId,
          text: t("data.import.taken"),
          about: countTexts(counts).join(", "),
          undo: () => undoImport(lukasa, queries, importId, file.name),
        });
        const imports = await lukasa.imports.list().catch(() => []);
        if (imports.some((one) => one.id === importId && one.undecided > 0)) {
          void navigate({ to: "/reveal", search: { import: importId } });
        } else {
          setTaken(importId);
        }
      } finally {
        // Also after a stop: the list shows what was imported so far, with its undo.
        await queries.invalidateQueries();
      }
    });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void look(event.dataTransfer.files[0]);
  };
  return (
    <>
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
            <Button busy={running?.what === "read"} onClick={() => picker.current?.click()}>
              {running?.what !== "read" && <Upload size={15} aria-hidden />}
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
              accept=".zip,.json,.jsonl,.ndjson,application/zip,application/json"
              onChange={(event) => {
                void look(event.target.files?.[0]);
                event.target.value = "";
              }}
            />
          </div>
          <Disclosure label={t("data.import.where")}>
            <ul className="flex list-disc flex-col gap-1 ps-5 text-meta">
              <li>{t("data.import.whereChatGpt")}</li>
              <li>{t("data.import.whereClaude")}</li>
            </ul>
          </Disclosure>
          {running && <RunningBar running={running} onStop={() => abort.current?.abort()} />}
          {error !== undefined && <ProblemCard error={error} />}
          <ImportedChats imports={brought} />
          {preview && (
            <ImportPreview
              preview={preview}
              busy={running !== undefined}
              onImport={() => void take(preview)}
              onCancel={() => setPreview(undefined)}
            />
          )}
          {(local || admin) && (
            <Disclosure label={t("shell.forDevelopers")}>
              <p className="text-meta text-muted">{t("data.import.others")}</p>
              <Snippet code="lukasa import mem0 memories.json --dry-run" />
            </Disclosure>
          )}
        </div>
        <Imports />
      </Card>
      <Card title={t("data.paste.title")}>
        <PasteBox />
      </Card>
    </>
  );
}

function RunningBar({
  running: { what, progress },
  onStop,
}: {
  running: Running;
  onStop: () => void;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <progress
        className="h-2 w-40 accent-[var(--accent)]"
        aria-label={t(`data.import.progress.${what}`)}
        max={1}
        value={progress?.done}
      />
      <output className="text-meta text-muted tabular-nums">
        {t(`data.import.far.${what}`, { count: progress?.items ?? 0 })}
      </output>
      <Button small look="quiet" onClick={onStop}>
        {t("data.import.stop")}
      </Button>
    </div>
  );
}

/** Undoes a whole import; a toast shows how many memories stay. */
async function undoImport(
  lukasa: Lukasa,
  queries: QueryClient,
  id: string,
  name: string,
): Promise<void> {
  try {
    const { kept } = await lukasa.imports.undo(id);
    forgetUndo(id);
    const about = kept > 0 ? t("data.import.kept", { count: kept }) : name;
    showToast({ text: t("data.import.undone"), about });
    await queries.invalidateQueries();
  } catch (error) {
    showFailure(error, {
      what: t("shell.failed.undo"),
      about: name,
      retry: () => undoImport(lukasa, queries, id, name),
    });
  }
}

function Imports() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const imports = useImports();
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
              <Button small onClick={() => void undoImport(lukasa, queries, one.id, one.name)}>
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
