/** "Why this answer?" over the chat. The address has the number of the answer, so it can be shared. */
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { LINK } from "../../features/sources/evidence.tsx";
import { Why } from "../../features/sources/why.tsx";
import { t } from "../../i18n/index.ts";
import { Drawer } from "../../ui/drawer.tsx";

export default function WhyDrawer({ session, turn }: { session: string; turn?: number }) {
  const navigate = useNavigate();
  // The latest answer stays while the drawer closes.
  const [latest, setLatest] = useState(turn);
  if (turn !== undefined && turn !== latest) setLatest(turn);
  const close = () =>
    void navigate({ to: "/chat/$session", params: { session }, search: {}, replace: true });
  return (
    <Drawer
      open={turn !== undefined}
      onOpenChange={(open) => {
        if (!open) close();
      }}
      title={t("sources.why.title")}
    >
      {latest !== undefined && (
        <div className="flex flex-col gap-4 p-4">
          <Why key={latest} session={session} turn={latest} inDrawer />
          <Link
            to="/sources"
            search={{ session, turn: latest, why: true }}
            className={`${LINK} self-start`}
          >
            {t("chat.whyPage")}
          </Link>
        </div>
      )}
    </Drawer>
  );
}
