/** Deliveries of a webhook by state, and sending them again. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { explanationOf } from "../../base/problems.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

const TONES = { delivered: "good", waiting: "warn", dead: "bad" } as const;
const DAY = 86_400_000;

export function Deliveries({ webhook }: { webhook: string }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const key = ["deliveries", webhook];
  const deliveries = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => lukasa.webhooks.deliveries(webhook, { limit: 50 }, { signal }),
    refetchInterval: 5_000,
  });
  const replay = async (body: { delivery?: string; since?: string }) => {
    try {
      await lukasa.webhooks.replay(webhook, body);
      showToast({ text: t("developer.webhooks.replayed") });
    } catch (error) {
      showToast({ text: explanationOf(error), tone: "bad" });
    }
    await queries.invalidateQueries({ queryKey: key });
  };
  if (deliveries.isPending) return <Skeleton rows={2} />;
  if (deliveries.error) {
    return <ProblemCard error={deliveries.error} retry={() => void deliveries.refetch()} />;
  }
  const words = (value: string) => {
    const word = `developer.webhooks.state.${value}`;
    return nameText(word, value);
  };
  return (
    <div className="flex flex-col items-start gap-2 rounded-control border bg-sunken">
      {deliveries.data?.length ? (
        <div className="w-full">
          <Table
            label={t("developer.webhooks.deliveries")}
            rows={deliveries.data}
            rowKey={(one) => one.id}
            columns={[
              {
                key: "verb",
                title: t("developer.webhooks.what"),
                cell: (one) => (
                  <>
                    {one.verb}
                    <bdi className="block text-meta text-muted">{one.user}</bdi>
                  </>
                ),
              },
              {
                key: "state",
                title: t("developer.webhooks.how"),
                cell: (one) => (
                  <>
                    <Badge tone={TONES[one.state as keyof typeof TONES] ?? "plain"}>
                      {words(one.state)} {one.status ?? ""}
                    </Badge>
                    <span className="block text-meta text-muted">
                      {one.error}
                      {one.next_at && (
                        <span className="block">
                          {t("developer.webhooks.next")} <Time at={one.next_at} />
                        </span>
                      )}
                    </span>
                  </>
                ),
              },
              {
                key: "attempts",
                title: t("developer.webhooks.attempts"),
                cell: (one) => one.attempts,
                number: true,
                wide: true,
              },
              {
                key: "at",
                title: t("developer.webhooks.when"),
                cell: (one) => <Time at={one.last_at} />,
                wide: true,
              },
              {
                key: "again",
                title: <span className="sr-only">{t("developer.webhooks.replay")}</span>,
                cell: (one) => (
                  <Button small look="quiet" onClick={() => void replay({ delivery: one.id })}>
                    {t("developer.webhooks.replay")}
                  </Button>
                ),
              },
            ]}
          />
        </div>
      ) : (
        <p className="px-4 pt-3 text-muted">{t("developer.webhooks.quiet")}</p>
      )}
      <div className="px-4 pb-3">
        <Button
          small
          onClick={() => void replay({ since: new Date(Date.now() - DAY).toISOString() })}
        >
          {t("developer.webhooks.replayDay")}
        </Button>
      </div>
    </div>
  );
}
