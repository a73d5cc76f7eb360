/** A receipt of an erasure: what went, what could not, and whether its signature is the server's. */
import { Quipu, type SignedReceiptView } from "@quipu/client";
import { useQuery } from "@tanstack/react-query";
import { BadgeCheck, Download, ShieldAlert } from "lucide-react";
import { verifies } from "../data/receipts.ts";
import { t } from "../i18n/index.ts";
import { Badge } from "./badge.tsx";
import { Button } from "./button.tsx";
import { saveFile } from "./save-file.ts";
import { Snippet } from "./snippet.tsx";
import { Time } from "./time.tsx";

/** The tables that a person has a word for; the rest is counted together. */
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

/** What goes, or went, in words. */
export function Removes({ removes }: { removes: Record<string, number> }) {
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

const bare = new Quipu({ url: "" });

export function ReceiptCard({ signed }: { signed: SignedReceiptView }) {
  const { receipt } = signed;
  const key = useQuery({
    queryKey: ["receipt-key"],
    queryFn: ({ signal }) => bare.erasures.key({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const publicKey = key.data?.public_key;
  const check = useQuery({
    queryKey: ["receipt-check", receipt.id, receipt.issued_at, publicKey],
    queryFn: async () => (await verifies(signed, publicKey ?? "")) ?? "unknown",
    enabled: publicKey !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const file = `quipu-receipt-${receipt.id}.json`;
  const save = () => saveFile(file, `${JSON.stringify(signed, null, 2)}\n`);
  const kind = receipt.erased === "user" ? "user" : receipt.erased === "turn" ? "turn" : "memory";
  return (
    <article className="flex flex-col gap-3 rounded-card border bg-surface p-4">
      <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h3 className="font-medium">
          {t(`data.receipt.${kind}`)}
          <span className="font-normal text-muted">
            {" · "}
            <Time at={receipt.erased_at} absolute />
          </span>
        </h3>
        <Button small onClick={save}>
          <Download size={14} aria-hidden />
          {t("data.receipt.download")}
        </Button>
      </header>
      <Removes removes={receipt.removed} />
      <ul className="flex flex-col gap-1 text-[0.8125rem] text-muted">
        {check.data === true && (
          <li className="inline-flex items-center gap-1.5 text-good">
            <BadgeCheck size={14} aria-hidden className="shrink-0" />
            {t("data.receipt.valid")}
          </li>
        )}
        {check.data === false && (
          <li className="inline-flex items-center gap-1.5 text-bad">
            <ShieldAlert size={14} aria-hidden className="shrink-0" />
            {t("data.receipt.invalid")}
          </li>
        )}
        <li>{t(receipt.files === "done" ? "data.receipt.filesDone" : "data.receipt.files")}</li>
        <li>{t(receipt.journal ? "data.receipt.journal" : "data.receipt.noJournal")}</li>
      </ul>
      <details className="text-[0.8125rem]">
        <summary className="py-0.5 text-muted hover:text-ink">{t("data.receipt.more")}</summary>
        <div className="flex flex-col gap-3 pt-2">
          <p className="text-muted">{t("data.receipt.left")}</p>
          <ul className="list-disc ps-5 text-muted">
            {receipt.not_removed.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          <p className="text-muted">{t("data.receipt.verify")}</p>
          <Snippet code={`quipu erase --verify ${file} --public-key ${publicKey ?? "…"}`} />
        </div>
      </details>
    </article>
  );
}
