/** Assistants that are connected by OAuth: what they may do, their last use, and disconnecting. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { SignInEntry } from "lukasa-client";
import { showFailure } from "../../base/failures.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Time } from "../../ui/time.tsx";

export function Connectors() {
  const lukasa = useLukasa();
  const { local, human, user } = useSignIn();
  const queries = useQueryClient();
  const connectors = useQuery({
    queryKey: ["connectors", user],
    queryFn: async ({ signal }) =>
      (await lukasa.signIns.list({ user }, { signal })).filter((one) => one.kind === "connector"),
    enabled: !local && human,
  });
  const end = async (one: SignInEntry) => {
    try {
      await lukasa.signIns.end(one.id);
      showToast({ text: t("settings.connectors.ended"), about: one.name });
    } catch (error) {
      showFailure(error, { about: one.name, retry: () => end(one) });
    }
    await queries.invalidateQueries({ queryKey: ["connectors"] });
  };
  if (!connectors.data?.length) return null;
  return (
    <Card flush title={t("settings.connectors.title")}>
      <ul className="divide-y divide-line">
        {connectors.data.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-1.5 px-4 py-3">
            <div className="flex min-w-0 flex-1 basis-72 flex-col gap-0.5">
              <bdi className="font-medium">{one.name}</bdi>
              <div className="text-meta text-muted">{permissionLabel(one)}</div>
            </div>
            <span className="text-meta text-muted">
              {t("settings.connectors.used")} <Time at={one.last_used_at} />
            </span>
            <Button small onClick={() => void end(one)}>
              {t("settings.connectors.end")}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function permissionLabel(one: SignInEntry): string {
  return one.permissions
    .map((name) => {
      const word = `settings.connectors.may.${name}`;
      return nameText(word, name);
    })
    .join(" · ");
}
