/** Offers to keep what the user said, after a reply of the guide that did nothing with it. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { useSaveInArea } from "../../data/save-in-area.ts";
import type { Round } from "../../features/chat/rounds.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { isGuideHelp, isStatement } from "./statement.ts";

const MAX_SHOWN = 80;

export function SaveOffer({ round }: { round: Round | undefined }) {
  const save = useSaveInArea();
  const [kept, setKept] = useState<string>();
  const [busy, setBusy] = useState(false);
  const words = round?.asked?.trim();
  if (!round || !words || round.state !== "done" || !isGuideHelp(round.answer)) return null;
  if (kept === words || !isStatement(words)) return null;
  const keep = async () => {
    setBusy(true);
    if (await save(words)) setKept(words);
    setBusy(false);
  };
  const text = words.length > MAX_SHOWN ? `${words.slice(0, MAX_SHOWN).trimEnd()}…` : words;
  return (
    <div>
      <Button small busy={busy} onClick={() => void keep()} className="max-w-full">
        {!busy && <Plus size={14} aria-hidden className="shrink-0" />}
        <span className="min-w-0 truncate">{t("chat.saveAsked", { text })}</span>
      </Button>
    </div>
  );
}
