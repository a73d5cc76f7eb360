/** Webhooks: endpoints that receive ids and verbs of every change, never text. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Webhook } from "lucide-react";
import type { CreatedWebhook, WebhookView } from "lukasa-client";
import { type FormEvent, useState } from "react";
import { explanationOf } from "../../base/problems.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TypedConfirm } from "../../ui/typed-confirm.tsx";
import { Deliveries } from "./deliveries.tsx";

const KEY = ["webhooks"];

export function Webhooks() {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [url, setUrl] = useState("");
  const [made, setMade] = useState<CreatedWebhook>();
  const [error, setError] = useState<unknown>();
  const webhooks = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => lukasa.webhooks.list({ signal }),
  });
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      setMade(await lukasa.webhooks.create({ url: url.trim() }));
      setUrl("");
      await queries.invalidateQueries({ queryKey: KEY });
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <Card flush title={t("developer.webhooks.title")}>
      <form
        onSubmit={(event) => void add(event)}
        className="flex flex-wrap items-center gap-2 border-b px-4 py-3"
      >
        <div className="min-w-0 flex-1 basis-60">
          <Input
            type="url"
            aria-label={t("developer.webhooks.url")}
            placeholder="https://example.com/lukasa"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </div>
        <Button type="submit" disabled={!url.trim()}>
          {t("developer.webhooks.add")}
        </Button>
        {error !== undefined && (
          <div className="basis-full">
            <ProblemCard error={error} />
          </div>
        )}
      </form>
      {webhooks.error && (
        <div className="p-3">
          <ProblemCard error={webhooks.error} retry={() => void webhooks.refetch()} />
        </div>
      )}
      {webhooks.isPending && <Skeleton rows={2} />}
      {webhooks.data?.length === 0 && (
        <EmptyState
          icon={<Webhook size={20} aria-hidden />}
          title={t("developer.webhooks.none")}
          text={t("developer.webhooks.noneText")}
        />
      )}
      <ul aria-label={t("developer.webhooks.title")} className="divide-y divide-line">
        {webhooks.data?.map((one) => (
          <WebhookRow key={one.id} webhook={one} />
        ))}
      </ul>
      <Dialog
        open={made !== undefined}
        onOpenChange={(open) => !open && setMade(undefined)}
        title={t("developer.webhooks.made")}
        text={t("developer.webhooks.once")}
        wide
      >
        <Snippet code={made?.secret ?? ""} />
      </Dialog>
    </Card>
  );
}

function WebhookRow({ webhook }: { webhook: WebhookView }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [shown, setShown] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const [busy, setBusy] = useState(false);
  const { id } = webhook;
  const during = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      showToast({ text: explanationOf(error), tone: "bad" });
    }
    await queries.invalidateQueries({ queryKey: KEY });
  };
  const test = async () => {
    setBusy(true);
    await during(async () => {
      const how = await lukasa.webhooks.test(id);
      showToast({
        text: t(how.delivered ? "developer.webhooks.arrived" : "developer.webhooks.lost"),
        about: how.error ?? (how.status ? String(how.status) : undefined),
        tone: how.delivered ? undefined : "bad",
      });
    });
    setBusy(false);
  };
  const host = hostOf(webhook.url);
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <Switch
        label={
          <>
            <bdi className="font-mono text-meta">{webhook.url}</bdi>{" "}
            {webhook.failing_since && <Badge tone="bad">{t("developer.webhooks.failing")}</Badge>}
          </>
        }
        help={
          webhook.disabled_because ??
          (webhook.verbs.length > 0 ? webhook.verbs.join(", ") : t("developer.webhooks.all"))
        }
        checked={webhook.enabled}
        onChange={(enabled) => void during(() => lukasa.webhooks.edit(id, { enabled }))}
      />
      <div className="flex flex-wrap gap-1.5">
        <Button small busy={busy} onClick={() => void test()}>
          {t("developer.webhooks.test")}
        </Button>
        <Button small aria-expanded={shown} onClick={() => setShown(!shown)}>
          {t("developer.webhooks.deliveries")}
        </Button>
        <Button small look="quiet" onClick={() => setLeaving(true)}>
          {t("developer.webhooks.remove")}
        </Button>
      </div>
      {shown && <Deliveries webhook={id} />}
      <TypedConfirm
        open={leaving}
        onOpenChange={setLeaving}
        title={t("developer.webhooks.removeTitle")}
        text={t("developer.webhooks.removeText")}
        word={host}
        action={t("developer.webhooks.remove")}
        onConfirm={() => during(() => lukasa.webhooks.delete(id))}
      />
    </li>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
