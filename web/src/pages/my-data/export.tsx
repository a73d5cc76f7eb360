/** Export as one file. The page fetches it itself, so that it can show the progress. */
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { locale, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { formatBytes, saveFile } from "../../ui/save-file.ts";

const HOLDS = ["memories", "chats", "log", "markdown", "rules", "manifest"] as const;

interface Progress {
  bytes: number;
  of: number;
}

export function Export() {
  const lukasa = useLukasa();
  const state = useQuery({
    queryKey: ["state"],
    queryFn: ({ signal }) => lukasa.state({ signal }),
  });
  const [progress, setProgress] = useState<Progress>();
  const [saved, setSaved] = useState<{ name: string; bytes: number }>();
  const [error, setError] = useState<unknown>();
  const busy = useRef(false);
  const download = async () => {
    if (busy.current) return;
    busy.current = true;
    setError(undefined);
    setSaved(undefined);
    setProgress({ bytes: 0, of: 0 });
    try {
      const response = await lukasa.open("/api/export", {});
      const parts = await read(response, setProgress);
      const name = nameOf(response);
      const blob = new Blob(parts, { type: "application/zip" });
      saveFile(name, blob);
      setSaved({ name, bytes: blob.size });
    } catch (refused) {
      setError(refused);
    } finally {
      busy.current = false;
      setProgress(undefined);
    }
  };
  useShortcuts(t("data.title"), [
    { keys: "e", label: t("data.export.act"), run: () => void download() },
  ]);
  const of = progress?.of ?? 0;
  return (
    <Card title={t("data.export.title")}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose">
          {t("data.export.text")}{" "}
          {state.data && (
            <span className="text-muted">
              {t("data.export.counts", {
                memories: state.data.memories,
                sessions: state.data.sessions,
                turns: state.data.turns,
              })}
            </span>
          )}
        </p>
        <ul className="grid gap-x-6 gap-y-1.5 text-meta text-muted sm:grid-cols-2">
          {HOLDS.map((part) => (
            <li key={part} className="flex gap-2">
              <span aria-hidden className="text-accent-text">
                ·
              </span>
              {t(`data.export.holds.${part}`)}
            </li>
          ))}
        </ul>
        {error !== undefined && <ProblemCard error={error} retry={() => void download()} />}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button look="primary" busy={progress !== undefined} onClick={() => void download()}>
            {progress === undefined && <Download size={15} aria-hidden />}
            {t("data.export.act")}
            <Kbd keys="e" inverse />
          </Button>
          {progress && (
            <progress
              className="h-2 w-40 accent-[var(--accent)]"
              aria-label={t("data.export.progress")}
              max={of || undefined}
              value={of ? progress.bytes : undefined}
            />
          )}
          <output className="text-meta text-muted tabular-nums">
            {progress
              ? progress.bytes > 0
                ? t("data.export.far", { size: formatBytes(progress.bytes, locale()) })
                : t("data.export.packing")
              : saved &&
                t("data.export.saved", {
                  name: saved.name,
                  size: formatBytes(saved.bytes, locale()),
                })}
          </output>
        </div>
      </div>
    </Card>
  );
}

async function read(response: Response, report: (progress: Progress) => void): Promise<BlobPart[]> {
  const of = Number(response.headers.get("content-length") ?? 0);
  const reader = response.body?.getReader();
  const parts: BlobPart[] = [];
  let bytes = 0;
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return parts;
    parts.push(piece.value);
    bytes += piece.value.length;
    report({ bytes, of });
  }
}

function nameOf(response: Response): string {
  const disposition = response.headers.get("content-disposition") ?? "";
  return /filename="([\w.-]+)"/.exec(disposition)?.[1] ?? "lukasa.zip";
}
