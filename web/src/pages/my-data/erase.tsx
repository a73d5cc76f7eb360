/** Erasing one memory or everything, with a preview and a receipt. */

import { useQuery } from "@tanstack/react-query";
import type { ErasurePreview, MemoryView } from "lukasa-client";
import { useMemo, useState } from "react";
import { useLukasa, useSignIn, useSignInActions } from "../../base/sign-in.ts";
import { useMemories } from "../../data/memories.ts";
import { byErasure, useReceipts } from "../../data/receipts.ts";
import { newest, plain } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import { ReceiptCard, RemovedCounts } from "../../features/erasure/receipt-card.tsx";
import { EraseMemory } from "../../features/memory/erase-memory.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { TypedConfirm } from "../../ui/typed-confirm.tsx";

const MAX_FOUND = 6;

export function Erase() {
  const { permissions } = useSignIn();
  return (
    <>
      <p className="max-w-prose text-muted">{t("data.erase.text")}</p>
      {permissions.includes("erase") && <EraseOne />}
      <EraseEverything />
      <Receipts />
    </>
  );
}

function EraseOne() {
  const { all } = useMemories();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<MemoryView>();
  const found = useMemo(() => {
    const words = plain(text.trim());
    return words ? newest(all.filter((one) => plain(one.content).includes(words))) : [];
  }, [all, text]);
  return (
    <Card title={t("data.erase.one")}>
      <Field label={t("data.erase.which")} help={t("data.erase.whichHelp")}>
        <Input
          dir="auto"
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      {text.trim() && (
        <ul aria-label={t("data.erase.which")} className="mt-3 divide-y divide-line">
          {found.slice(0, MAX_FOUND).map((memory) => (
            <li key={memory.id} className="flex min-h-row items-center justify-between gap-3">
              <span dir="auto" className="min-w-0">
                {shownContent(memory)}
              </span>
              <Button small onClick={() => setChosen(memory)}>
                {t("data.erase.act")}
              </Button>
            </li>
          ))}
          {found.length === 0 && <li className="py-2 text-muted">{t("data.erase.none")}</li>}
          {found.length > MAX_FOUND && (
            <li className="py-2 text-meta text-muted">
              {t("data.erase.more", { count: found.length - MAX_FOUND })}
            </li>
          )}
        </ul>
      )}
      {chosen && (
        <EraseMemory
          memory={chosen}
          onClose={(erased) => {
            setChosen(undefined);
            if (erased) setText("");
          }}
        />
      )}
    </Card>
  );
}

function Preview({ preview, error }: { preview: ErasurePreview | undefined; error: unknown }) {
  if (error) return <ProblemCard error={error} />;
  if (!preview) return <p className="text-muted">{t("shell.loading")}</p>;
  return (
    <section aria-label={t("data.erase.goes")} className="flex flex-col gap-2">
      <h3 className="font-medium">{t("data.erase.goes")}</h3>
      <RemovedCounts removes={preview.removes} />
    </section>
  );
}

function EraseEverything() {
  const lukasa = useLukasa();
  const signIn = useSignIn();
  const { showErasedUser } = useSignInActions();
  // Allowed for the user with the erase permission, and for operators.
  const may = signIn.admin || (signIn.human && signIn.permissions.includes("erase"));
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const preview = useQuery({
    queryKey: ["erasure", "user"],
    queryFn: ({ signal }) => lukasa.users.previewErasure(signIn.user, { signal }),
    enabled: asking,
    gcTime: 0,
  });
  const confirm = async () => {
    setError(undefined);
    try {
      const { receipt } = await lukasa.users.delete(signIn.user);
      showErasedUser(receipt);
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <Card title={t("data.erase.all")}>
      <div className="flex flex-wrap items-center justify-between gap-4">
        <p className="min-w-0 flex-1 basis-72">
          {t(may ? "data.erase.allText" : "data.erase.ask")}
        </p>
        {may && (
          <Button look="danger" onClick={() => setAsking(true)}>
            {t("data.erase.allAct")}
          </Button>
        )}
      </div>
      <TypedConfirm
        open={asking}
        onOpenChange={setAsking}
        title={t("data.erase.allTitle", { user: signIn.user })}
        text={t("data.erase.allWarn")}
        word={signIn.user}
        action={t("data.erase.allAct")}
        ready={preview.data !== undefined}
        onConfirm={confirm}
      >
        <Preview preview={preview.data} error={preview.error ?? error} />
      </TypedConfirm>
    </Card>
  );
}

function Receipts() {
  const receipts = useReceipts();
  return (
    <section aria-label={t("data.receipt.list")} className="flex flex-col gap-3">
      <h2 className="font-medium">{t("data.receipt.list")}</h2>
      {receipts.error && (
        <ProblemCard error={receipts.error} retry={() => void receipts.refetch()} />
      )}
      {receipts.isPending && <Skeleton rows={2} />}
      {receipts.data?.length === 0 && <p className="text-muted">{t("data.receipt.none")}</p>}
      {byErasure(receipts.data ?? []).map((signed) => (
        <ReceiptCard key={signed[0]?.receipt.id} signed={signed} />
      ))}
    </section>
  );
}
