/** How far learning from a chat is, and what a learning pass left out, with a way to keep it. */

import { useQueryClient } from "@tanstack/react-query";
import type { LeftSentenceView, PassView, SessionView } from "lukasa-client";
import { useState } from "react";
import { relative } from "../../base/dates.ts";
import { showFailure } from "../../base/failures.ts";
import { useLukasa } from "../../base/sign-in.ts";
import { type EffectivePolicy, usePolicy } from "../../data/policy.ts";
import { useRefreshSources } from "../../data/sources.ts";
import { useWrite } from "../../data/writes.ts";
import { domainName } from "../../i18n/domains.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { useNow } from "../../ui/time.tsx";

/** One line: what learning waits for, or what it came to. */
export function LearningState({ session }: { session: SessionView }) {
  const { learning } = session;
  const now = useNow();
  const policy = usePolicy().data?.in_force as unknown as EffectivePolicy | undefined;
  if (!learning || session.incognito || learning.state === "nothing") return null;
  const { state, starts_at, learned_at, learned, proposed, left_out } = learning;
  const isManual = state === "off" && policy?.extract === "manual";
  return (
    <p className="flex flex-wrap gap-x-2 text-meta text-muted">
      <span>{t(`sources.learning.${isManual ? "manual" : stateOf(state)}`)}</span>
      {state === "waiting_for_pause" && starts_at && Date.parse(starts_at) > now && (
        <span>{t("sources.learning.starts", { when: relative(Date.parse(starts_at), now) })}</span>
      )}
      {learned_at && (
        <span>{t("sources.learning.digest", { learned, proposed, left: left_out })}</span>
      )}
    </p>
  );
}

const STATES = [
  "waiting_for_pause",
  "queued",
  "running",
  "failed",
  "learned",
  "off",
  "waiting_for_model",
  "no_model",
];

function stateOf(state: string) {
  return (STATES.includes(state) ? state : "learned") as "learned";
}

/** States in which the user can let the server learn at once. */
const LEARNABLE = ["waiting_for_pause", "off"];

/** The button that lets the server learn from a chat at once, if that is possible now. */
export function LearnNow({ session: { id, learning, incognito } }: { session: SessionView }) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  if (incognito || !LEARNABLE.includes(learning?.state ?? "")) return null;
  const learn = async () => {
    setBusy(true);
    try {
      await lukasa.sessions.learn(id);
      await queries.invalidateQueries({ queryKey: ["sessions"] });
    } catch (error) {
      showFailure(error, { retry: learn });
    }
    setBusy(false);
  };
  return (
    <Button small busy={busy} onClick={() => void learn()}>
      {t("chat.digest.now")}
    </Button>
  );
}

/** The sentences that passes left out, each with a way to keep it. */
export function LeftOut({ passes }: { passes: readonly PassView[] }) {
  if (!passes.some((pass) => pass.left_out.length > 0)) return null;
  const more = passes.reduce((sum, pass) => sum + pass.left_out_more, 0);
  return (
    <section aria-label={t("sources.leftOut.title")}>
      <h3 className="px-4 pt-2 text-fine text-muted">{t("sources.leftOut.title")}</h3>
      <ul className="divide-y divide-line">
        {passes.flatMap((pass) =>
          pass.left_out.map((item) => (
            <Item key={`${pass.id} ${item.place}`} pass={pass} item={item} />
          )),
        )}
      </ul>
      {more > 0 && (
        <p className="px-4 pb-2 text-fine text-muted">
          {t("sources.leftOut.more", { count: more })}
        </p>
      )}
    </section>
  );
}

function Item({ pass, item }: { pass: PassView; item: LeftSentenceView }) {
  const lukasa = useLukasa();
  const write = useWrite();
  const refresh = useRefreshSources();
  const { words } = item;
  const reason = `sources.leftOut.reason.${item.reason}`;
  const keep = () =>
    void write({
      say: t("sources.leftOut.did"),
      about: words ?? undefined,
      run: () => lukasa.learning.keep(pass.id, item.place),
      after: refresh,
    });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <span className="min-w-0 flex-1">
        {words ? (
          <span dir="auto">{words}</span>
        ) : (
          <span className="text-muted">{t("sources.leftOut.hidden")}</span>
        )}{" "}
        <span className="text-fine text-muted">{nameText(reason, item.reason)}</span>
      </span>
      {item.domain && <Badge>{domainName(item.domain)}</Badge>}
      {item.memory_id ? (
        <Badge tone="accent">{t("sources.leftOut.kept")}</Badge>
      ) : (
        words && (
          <Button small onClick={keep}>
            {t("sources.leftOut.keep")}
          </Button>
        )
      )}
    </li>
  );
}
