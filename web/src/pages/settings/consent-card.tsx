/** The consent that the chosen preset asks for: what it is about, and one button that gives it. */
import { useQueryClient } from "@tanstack/react-query";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { usePolicy } from "../../data/policy.ts";
import { REVIEW } from "../../data/review.ts";
import { useWrite } from "../../data/writes.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";

export function ConsentCard() {
  const lukasa = useLukasa();
  const signIn = useSignIn();
  const queries = useQueryClient();
  const write = useWrite();
  const policy = usePolicy();
  const card = policy.data?.consents[0];
  if (!card) return null;
  const name = domainName(card.domain);
  const give = async () => {
    await write({
      say: t("settings.consent.given", { name }),
      run: () => lukasa.domains.consent(card.domain),
    });
    for (const key of [["policy"], ["domains"], REVIEW])
      void queries.invalidateQueries({ queryKey: key });
  };
  return (
    <Card title={t("settings.consent.title", { name })}>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p className="min-w-0 flex-1 basis-60">{t("settings.consent.text", { name })}</p>
        <Button look="primary" disabled={!signIn.human} onClick={() => void give()}>
          {t("settings.consent.give")}
        </Button>
      </div>
      {!signIn.human && (
        <p className="mt-2 text-meta text-muted">{t("settings.domains.onlyThem")}</p>
      )}
    </Card>
  );
}
