/** The receipt of an erasure: what was removed, what could not be, and whether its signature is valid. */

import { useQuery } from "@tanstack/react-query";
import { BadgeCheck, Download, ShieldAlert } from "lucide-react";
import { Lukasa, type SignedReceiptView } from "lukasa-client";
import { verifies } from "../../data/receipts.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Snippet } from "../../ui/snippet.tsx";
import { Time } from "../../ui/time.tsx";

/** Database tables with a user-facing name; the others are counted together. */
const TABLES = [
  ["fact", "memories"],
  ["fact_version", "versions"],
  ["link", "links"],
  ["session", "chats"],
  ["turn", "turns"],
  ["episode", "episodes"],
  ["portrait", "portraits"],
  ["retrieval", "prompts"],
  ["operation", "operations"],
  ["passage", "passages"],
  ["embedding", "embeddings"],
] as const;

/** Counts of what is, or was, removed. */
export function RemovedCounts({ removes }: { removes: Record<string, number> }) {
  const named = TABLES.filter(([table]) => (removes[table] ?? 0) > 0);
  const rest = Object.entries(removes)
    .filter(([table]) => !TABLES.some(([known]) => known === table))
    .reduce((sum, [, count]) => sum + count, 0);
  return (
    <ul className="flex flex-wrap gap-1.5">
      {named.map(([table, word]) => (
        <li key={table}>
          <Badge>{t(`data.gone.${word}`, { count: removes[table] ?? 0 })}</Badge>
        </li>
      ))}
      {rest > 0 && (
        <li>
          <Badge>{t("data.gone.rest", { count: rest })}</Badge>
        </li>
      )}
      {named.length === 0 && rest === 0 && <li className="text-muted">{t("data.gone.nothing")}</li>}
    </ul>
  );
}

const client = new Lukasa({ url: "" });

/** Whether every signature is this server's; "unknown" if the browser cannot check it. */
function useCheck(signed: readonly SignedReceiptView[]) {
  const key = useQuery({
    queryKey: ["receipt-key"],
    queryFn: ({ signal }) => client.erasures.key({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const publicKey = key.data?.public_key;
  const check = useQuery({
    queryKey: [
      "receipt-check",
      signed.map(({ receipt }) => [receipt.id, receipt.issued_at]),
      publicKey,
    ],
    queryFn: async () => {
      const all = await Promise.all(signed.map((one) => verifies(one, publicKey ?? "")));
      if (all.includes(false)) return false;
      return all.includes(undefined) ? "unknown" : true;
    },
    enabled: publicKey !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { publicKey, valid: check.data };
}

function fileOf({ receipt }: SignedReceiptView): string {
  return `lukasa-receipt-${receipt.id}.json`;
}

function DownloadButton({ signed, words }: { signed: SignedReceiptView; words: string }) {
  const save = () => saveFile(fileOf(signed), `${JSON.stringify(signed, null, 2)}\n`);
  return (
    <Button small onClick={save}>
      <Download size={14} aria-hidden />
      {words}
    </Button>
  );
}

function kindOf({ receipt }: SignedReceiptView): "user" | "turn" | "memory" {
  return receipt.erased === "user" || receipt.erased === "turn" ? receipt.erased : "memory";
}

/** All receipts of one erasure as one card. */
export function ReceiptCard({ signed }: { signed: readonly SignedReceiptView[] }) {
  const { publicKey, valid } = useCheck(signed);
  // The turn is named first: its memories were erased because of it.
  const first = signed.find((one) => kindOf(one) === "turn") ?? signed[0];
  if (!first) return null;
  const { receipt } = first;
  const removed: Record<string, number> = {};
  for (const one of signed) {
    for (const [table, count] of Object.entries(one.receipt.removed)) {
      removed[table] = (removed[table] ?? 0) + count;
    }
  }
  const scrubbed = signed.every((one) => one.receipt.files === "done");
  return (
    <article className="flex flex-col gap-3 rounded-card border bg-surface p-4">
      <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h3 className="font-medium">
          {t(`data.receipt.${kindOf(first)}`)}
          <span className="font-normal text-muted">
            {" · "}
            <Time at={receipt.erased_at} absolute />
          </span>
        </h3>
        {signed.length === 1 && (
          <DownloadButton signed={first} words={t("data.receipt.download")} />
        )}
      </header>
      <RemovedCounts removes={removed} />
      <ul className="flex flex-col gap-1 text-meta text-muted">
        {valid === true && (
          <li className="flex items-start gap-1.5 text-good">
            <BadgeCheck size={14} aria-hidden className="mt-0.5 shrink-0" />
            {t("data.receipt.valid")}
          </li>
        )}
        {valid === false && (
          <li className="flex items-start gap-1.5 text-bad">
            <ShieldAlert size={14} aria-hidden className="mt-0.5 shrink-0" />
            {t("data.receipt.invalid")}
          </li>
        )}
        <li>{t(scrubbed ? "data.receipt.filesDone" : "data.receipt.files")}</li>
        <li>{t(receipt.journal ? "data.receipt.journal" : "data.receipt.noJournal")}</li>
      </ul>
      <details className="text-meta">
        <summary className="py-0.5 text-muted hover:text-ink">{t("data.receipt.more")}</summary>
        <div className="flex flex-col gap-3 pt-2">
          <p className="text-muted">{t("data.receipt.left")}</p>
          <ul className="list-disc ps-5 text-muted">
            {receipt.not_removed.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          {signed.length > 1 && (
            <>
              <p className="text-muted">{t("data.receipt.each", { count: signed.length })}</p>
              <ul className="flex max-h-60 flex-wrap gap-1.5 overflow-y-auto">
                {signed.map((one) => (
                  <li key={one.receipt.id}>
                    <DownloadButton signed={one} words={t(`data.receipt.${kindOf(one)}`)} />
                  </li>
                ))}
              </ul>
            </>
          )}
          <p className="text-muted">{t("data.receipt.verify")}</p>
          <Snippet
            code={`lukasa erase --verify ${fileOf(first)} --public-key ${publicKey ?? "…"}`}
          />
        </div>
      </details>
    </article>
  );
}
