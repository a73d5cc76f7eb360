/**
 * Erasing one memory. It is the one thing here that asks first, because it is the one that cannot be
 * undone: it shows what would go, wants a word typed, and gives the receipt.
 */
import type { MemoryView, Written } from "@quipu/client";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { ProblemCard } from "../../app/problems.tsx";
import { useQuipu } from "../../app/sign-in.tsx";
import { useMemoryActs } from "../../data/acts.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Spinner } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";

export function Erase({
  memory,
  onClose,
  onErased,
}: {
  memory: MemoryView;
  onClose: () => void;
  onErased: () => void;
}) {
  const quipu = useQuipu();
  const { erase } = useMemoryActs();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [written, setWritten] = useState<Written>();
  const preview = useQuery({
    queryKey: ["erasure", memory.id],
    enabled: !written,
    staleTime: 0,
    queryFn: ({ signal }) => quipu.memories.previewErasure(memory.id, { signal }),
  });
  const word = t("memory.erase.word");
  const run = async () => {
    setBusy(true);
    setWritten(await erase(memory));
    setBusy(false);
  };
  const close = () => {
    onClose();
    if (written) onErased();
  };
  const receipt = written?.receipts?.[0];
  return (
    <Dialog
      open
      onOpenChange={(shown) => !shown && close()}
      title={t(written ? "memory.erase.done" : "memory.erase.title")}
      text={t(written ? "memory.erase.doneText" : "memory.erase.text")}
      actions={
        written ? (
          <Button look="primary" onClick={close}>
            {t("shell.close")}
          </Button>
        ) : (
          <>
            <Button onClick={close}>{t("shell.cancel")}</Button>
            <Button
              look="danger"
              busy={busy}
              disabled={typed.trim().toLowerCase() !== word.toLowerCase() || !preview.data}
              onClick={() => void run()}
            >
              {t("memory.act.erase")}
            </Button>
          </>
        )
      }
    >
      {receipt ? (
        <div className="flex flex-col gap-3">
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-[0.8125rem]">
            <dt className="text-muted">{t("memory.erase.receipt")}</dt>
            <dd className="font-mono text-xs break-all">{receipt.erasure_id}</dd>
            <dt className="text-muted">{t("memory.erase.at")}</dt>
            <dd>
              <Time at={receipt.erased_at} absolute />
            </dd>
            <dt className="text-muted">{t("memory.erase.removed")}</dt>
            <dd>
              {t("memory.erase.counts", {
                versions: receipt.versions,
                links: receipt.links,
                evidence: receipt.evidence,
              })}
            </dd>
          </dl>
          <TakeReceipt id={receipt.erasure_id ?? undefined} />
        </div>
      ) : (
        <div className="flex flex-col gap-4">
          <p dir="auto" className="rounded-control border bg-sunken px-3 py-2">
            {memory.content}
          </p>
          {preview.error ? (
            <ProblemCard error={preview.error} retry={() => void preview.refetch()} />
          ) : preview.data ? (
            <p>
              {t("memory.erase.radius")} <strong>{preview.data.message}</strong>
            </p>
          ) : (
            <Spinner />
          )}
          <Field label={t("memory.erase.type", { word })}>
            <Input
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
        </div>
      )}
    </Dialog>
  );
}

/** The signed form of the receipt, which can be checked without asking this server. */
function TakeReceipt({ id }: { id: string | undefined }) {
  const quipu = useQuipu();
  const signed = useQuery({
    queryKey: ["receipt", id],
    enabled: id !== undefined,
    queryFn: async ({ signal }) =>
      (await quipu.erasures.list({ signal })).find((one) => one.receipt.id === id) ?? null,
  });
  if (!signed.data) return null;
  return (
    <div>
      <Button
        small
        onClick={() =>
          saveFile(`${id}.json`, `${JSON.stringify(signed.data, null, 2)}\n`, "application/json")
        }
      >
        <Download size={14} aria-hidden />
        {t("memory.erase.download")}
      </Button>
    </div>
  );
}
