/** The vault as Markdown files, byte for byte: to read, copy and download. */

import { useQuery } from "@tanstack/react-query";
import { Copy, Download, FileText } from "lucide-react";
import type { VaultFile } from "lukasa-client";
import { useLiveEvent } from "../../base/live.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Select } from "../../ui/select.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

export function Markdown({
  file,
  onChoose,
}: {
  file: string | undefined;
  onChoose: (path: string) => void;
}) {
  const lukasa = useLukasa();
  const vault = useQuery({
    queryKey: ["vault"],
    queryFn: ({ signal }) => lukasa.vault.get({ signal }),
  });
  useLiveEvent(() => void vault.refetch());
  if (vault.error) {
    return (
      <div className="px-4 sm:px-6">
        <ProblemCard error={vault.error} retry={() => void vault.refetch()} />
      </div>
    );
  }
  if (!vault.data) return <Skeleton />;
  // The other files are the base for sync and are not shown.
  const files = vault.data.files.filter((one) => one.path.endsWith(".md"));
  const named = (path: string | undefined) => files.find((one) => one.path === path);
  const chosen = named(file) ?? named("profile.md") ?? files[0];
  if (!chosen) return <EmptyState title={t("memory.md.none")} text={t("memory.md.noneText")} />;
  return (
    <div className="flex min-h-0 flex-1 border-t max-md:flex-col">
      <nav
        aria-label={t("memory.md.files")}
        className="w-56 shrink-0 overflow-y-auto border-e p-2 max-md:hidden"
      >
        <ul>
          {files.map((one) => (
            <li key={one.path}>
              <button
                type="button"
                aria-current={one === chosen ? "page" : undefined}
                onClick={() => onChoose(one.path)}
                className={classes(
                  "flex min-h-8 pointer-coarse:min-h-11 w-full items-center gap-2 rounded-control px-2 text-start hover:bg-hover",
                  one === chosen ? "bg-active font-medium" : "text-muted",
                )}
              >
                <FileText size={14} aria-hidden className="shrink-0" />
                <bdi className="min-w-0 flex-1 truncate">{one.path}</bdi>
                <span className="text-fine text-muted tabular-nums">{linesOf(one)}</span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div className="px-4 pt-3 md:hidden">
        <Select
          label={t("memory.md.files")}
          value={chosen.path}
          choices={files.map((one) => ({ value: one.path, text: one.path }))}
          onChange={onChoose}
        />
      </div>
      <FileShown file={chosen} />
    </div>
  );
}

/** The number of memories in a file: one per line. */
function linesOf(file: VaultFile): number {
  return file.content.split("\n").filter((line) => line.startsWith("- ")).length;
}

function FileShown({ file }: { file: VaultFile }) {
  const copy = async () => {
    await navigator.clipboard?.writeText(file.content);
    showToast({ text: t("shell.copied"), about: file.path });
  };
  return (
    <section aria-label={file.path} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex flex-wrap items-center justify-between gap-2 border-b px-4 py-2">
        <h2 className="font-mono text-meta">
          <bdi>{file.path}</bdi>
        </h2>
        <div className="flex gap-1.5">
          <Button small onClick={() => void copy()}>
            <Copy size={14} aria-hidden />
            {t("shell.copy")}
          </Button>
          <Button
            small
            onClick={() =>
              saveFile(file.path.split("/").at(-1) ?? file.path, file.content, "text/markdown")
            }
          >
            <Download size={14} aria-hidden />
            {t("memory.md.download")}
          </Button>
        </div>
      </header>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto px-4 py-4 font-mono text-meta leading-relaxed whitespace-pre-wrap -outline-offset-2"
      >
        {file.content.split("\n").map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines are known by their place
          <Line key={at} text={line} />
        ))}
      </pre>
    </section>
  );
}

/** A line with its ids dimmed. The text is shown as it is and never interpreted. */
function Line({ text }: { text: string }) {
  if (/^#{1,6} /.test(text)) {
    return (
      <span dir="auto" className="block font-semibold">
        {text}
        {"\n"}
      </span>
    );
  }
  if (text.startsWith(">")) {
    return (
      <span dir="auto" className="block text-muted">
        {text}
        {"\n"}
      </span>
    );
  }
  const mark = /^(.*?)(\s\^mem-\w+)$/s.exec(text);
  return (
    <span dir="auto" className="block">
      {mark ? mark[1] : text}
      {mark && <span className="text-faint">{mark[2]}</span>}
      {"\n"}
    </span>
  );
}
