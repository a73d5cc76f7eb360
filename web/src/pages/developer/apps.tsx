/** API keys of apps: permissions, last use, and revoking. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import type { IssuedView, KeyView } from "lukasa-client";
import { useState } from "react";
import { explanationOf } from "../../base/problems.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { command } from "../../data/curl.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Time } from "../../ui/time.tsx";
import { TypedConfirm } from "../../ui/typed-confirm.tsx";
import { MakeKey } from "./make-key.tsx";

export function Apps() {
  const lukasa = useLukasa();
  const signIn = useSignIn();
  const queries = useQueryClient();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<IssuedView>();
  const [leaving, setLeaving] = useState<KeyView>();
  const keys = useQuery({
    queryKey: ["keys"],
    queryFn: ({ signal }) => lukasa.keys.list({ signal }),
  });
  useShortcuts(t("developer.tab.apps"), [
    { keys: "n", label: t("developer.keys.make"), run: () => setMaking(true) },
  ]);
  const revoke = async (key: KeyView) => {
    try {
      await lukasa.keys.revoke(key.id);
      setLeaving(undefined);
      showToast({ text: t("developer.keys.revoked"), about: key.name });
    } catch (error) {
      showToast({ text: explanationOf(error), tone: "bad" });
    }
    await queries.invalidateQueries({ queryKey: ["keys"] });
  };
  const live = (keys.data ?? []).toSorted(
    (a, b) =>
      Number(isEnded(a)) - Number(isEnded(b)) ||
      (b.last_used_at ?? "").localeCompare(a.last_used_at ?? ""),
  );
  return (
    <Card
      flush
      title={t("developer.keys.title")}
      actions={
        <Button small onClick={() => setMaking(true)}>
          <Plus size={14} aria-hidden />
          {t("developer.keys.make")}
          <Kbd keys="n" />
        </Button>
      }
    >
      {signIn.local && <p className="border-b px-4 py-3 text-muted">{t("developer.keys.local")}</p>}
      {keys.error && (
        <div className="p-3">
          <ProblemCard error={keys.error} retry={() => void keys.refetch()} />
        </div>
      )}
      {keys.isPending && <Skeleton />}
      {keys.data?.length === 0 && (
        <EmptyState
          icon={<KeyRound size={20} aria-hidden />}
          title={t("developer.keys.none")}
          text={t("developer.keys.noneText")}
        />
      )}
      <ul className="divide-y divide-line">
        {live.map((key) => (
          <li key={key.id} className="flex flex-wrap items-center gap-x-4 gap-y-1.5 px-4 py-3">
            <div className="flex min-w-0 flex-1 basis-72 flex-col gap-0.5">
              <div className="flex flex-wrap items-center gap-2">
                <bdi className="font-medium">{key.name}</bdi>
                {key.user ? (
                  <Badge>
                    <bdi>{key.user}</bdi>
                  </Badge>
                ) : (
                  <Badge>{t("developer.keys.allUsers")}</Badge>
                )}
                {isEnded(key) && (
                  <Badge tone="bad">
                    {t(key.revoked_at ? "developer.keys.wasRevoked" : "developer.keys.ended")}
                  </Badge>
                )}
              </div>
              <div className="text-meta text-muted">{permissionLabel(key)}</div>
              <div className="text-meta text-muted">{originLabel(key.origin)}</div>
            </div>
            <span className="text-meta text-muted">
              {t("developer.keys.used")} <Time at={key.last_used_at} />
            </span>
            {!isEnded(key) && (
              <Button small onClick={() => setLeaving(key)}>
                {t("developer.keys.revoke")}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <MakeKey open={making} onOpenChange={setMaking} onMade={setMade} />
      <Dialog
        open={made !== undefined}
        onOpenChange={(open) => !open && setMade(undefined)}
        title={t("developer.keys.made", { name: made?.name ?? "" })}
        text={t("developer.keys.once")}
        wide
      >
        <div className="flex flex-col gap-4">
          <Snippet code={made?.secret ?? ""} />
          <p className="text-muted">{t("developer.keys.try")}</p>
          <Snippet code={exampleCommand(made)} />
        </div>
      </Dialog>
      {leaving && (
        <TypedConfirm
          open
          onOpenChange={(open) => !open && setLeaving(undefined)}
          title={t("developer.keys.revokeTitle", { name: leaving.name })}
          text={t("developer.keys.revokeText")}
          word={leaving.name}
          action={t("developer.keys.revoke")}
          onConfirm={() => revoke(leaving)}
        />
      )}
    </Card>
  );
}

function isEnded(key: KeyView): boolean {
  return (
    Boolean(key.revoked_at) || (key.expires_at != null && Date.parse(key.expires_at) < Date.now())
  );
}

function permissionLabel(key: KeyView): string {
  return key.permissions
    .map((one) => {
      const word = `developer.may.${one}`;
      return nameText(word, one);
    })
    .join(" · ");
}

function originLabel(origin: string): string {
  const word = `developer.origin.${origin}`;
  return nameText(word, origin);
}

function exampleCommand(made: IssuedView | undefined): string {
  const user = made?.user ? undefined : "alice";
  return command("/api/memory", undefined, { user, key: made?.secret });
}
