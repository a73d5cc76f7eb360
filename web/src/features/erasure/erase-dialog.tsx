/**
 * The dialog for erasing: what would be removed, a word to type, and then the receipt. Render it in a parent
 * that stays mounted when the erased item disappears.
 */

import { useQueryClient } from "@tanstack/react-query";
import type { WriteResult } from "lukasa-client";
import { type ReactNode, useState } from "react";
import { useReceipts } from "../../data/receipts.ts";
import { t } from "../../i18n/index.ts";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { TypedConfirm } from "../../ui/typed-confirm.tsx";
import { ReceiptCard } from "./receipt-card.tsx";

export function EraseDialog({
  title,
  text,
  word = t("data.erase.word"),
  ready,
  run,
  onClose,
  children,
}: {
  title: ReactNode;
  text: ReactNode;
  word?: string;
  ready?: boolean;
  run: () => Promise<WriteResult>;
  /** Receives whether it was erased. */
  onClose: (erased: boolean) => void;
  /** What would be removed. */
  children?: ReactNode;
}) {
  const queries = useQueryClient();
  const [written, setWritten] = useState<WriteResult>();
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setError(undefined);
    try {
      const done = await run();
      await queries.invalidateQueries({ queryKey: ["receipts"] });
      setWritten(done);
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <TypedConfirm
      open
      onOpenChange={(open) => !open && onClose(written !== undefined)}
      title={title}
      text={text}
      word={word}
      action={t("data.erase.act")}
      ready={ready}
      onConfirm={confirm}
      done={
        written && {
          title: t("data.erase.done"),
          text: t("data.erase.doneText"),
          content: <Receipt operation={written.event.operation_id ?? undefined} />,
        }
      }
    >
      {children}
      {error !== undefined && <ProblemCard error={error} />}
    </TypedConfirm>
  );
}

/** The receipts of one operation, as the server has signed them. */
function Receipt({ operation }: { operation: string | undefined }) {
  const receipts = useReceipts();
  const own = (receipts.data ?? []).filter((one) => one.receipt.operation_id === operation);
  if (own.length > 0) return <ReceiptCard signed={own} />;
  if (receipts.error) {
    return <ProblemCard error={receipts.error} retry={() => void receipts.refetch()} />;
  }
  return (
    <p className="text-muted">
      {t(receipts.isFetching ? "shell.loading" : "data.erase.receiptLater")}
    </p>
  );
}
