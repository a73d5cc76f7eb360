/** A button that keeps an assistant's reply as a note. */
import { Bookmark } from "lucide-react";
import type { WriteResult } from "lukasa-client";
import { useState } from "react";
import { ShownError } from "../../base/problems.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { useWrite } from "../../data/writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

export default function KeepReply({ session, turn }: { session: string; turn: number }) {
  const lukasa = useLukasa();
  const write = useWrite();
  const { human } = useSignIn();
  const [busy, setBusy] = useState(false);
  if (!human) return null;
  const keep = async (): Promise<WriteResult> => {
    for await (const one of lukasa.sessions.turns(session, { limit: 200 })) {
      if (one.number === turn) return await lukasa.turns.keepReply(one.id);
    }
    throw new ShownError(t("chat.replyGone"));
  };
  return (
    <Button
      small
      look="quiet"
      busy={busy}
      onClick={() => {
        setBusy(true);
        void write({ say: t("chat.kept"), run: keep }).finally(() => setBusy(false));
      }}
    >
      <Bookmark size={14} aria-hidden />
      {t("chat.keep")}
    </Button>
  );
}
