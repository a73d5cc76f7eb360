/** Shown after everything about a user was erased: the receipt, and a button to start again. */
import { Lukasa, LukasaError, type SignedReceiptView } from "lukasa-client";
import { useState } from "react";
import { ReceiptCard } from "../features/erasure/receipt-card.tsx";
import { t } from "../i18n/index.ts";
import { Brand } from "../ui/brand.tsx";
import { Button } from "../ui/button.tsx";
import { ProblemCard } from "../ui/problem-card.tsx";

export function ErasedUser({
  user,
  receipt,
  signedOut,
}: {
  user: string;
  receipt?: SignedReceiptView;
  /** The user was signed in by a link, which is erased with the user; only the operator creates another. */
  signedOut: boolean;
}) {
  const [error, setError] = useState<unknown>();
  const again = async () => {
    try {
      await new Lukasa({ url: "" }).users.create({ user });
      location.assign("/memory");
    } catch (refused) {
      // Only an operator may create users; others have to sign in again.
      if (refused instanceof LukasaError && refused.status === 401) location.assign("/sign-in");
      else setError(refused);
    }
  };
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-2xl flex-col justify-center gap-5 p-4">
      <Brand />
      <div className="flex flex-col gap-1">
        <h1 className="text-title">{t("data.goneAll.title")}</h1>
        <p className="text-muted">{t(receipt ? "data.goneAll.text" : "data.goneAll.before")}</p>
      </div>
      {receipt && <ReceiptCard signed={[receipt]} />}
      {error !== undefined && <ProblemCard error={error} />}
      {signedOut ? (
        <p className="text-muted">{t("data.goneAll.signedOut")}</p>
      ) : (
        <div>
          <Button onClick={() => void again()}>{t("data.goneAll.again")}</Button>
        </div>
      )}
    </main>
  );
}
