/** Erasing a turn or a chat. The page renders the dialog, because the erased item is removed from it. */

import { useQueryClient } from "@tanstack/react-query";
import type { WriteResult } from "lukasa-client";
import { createContext, type ReactNode, useContext, useState } from "react";
import { useSignIn } from "../../base/sign-in.ts";
import { EraseDialog } from "../../features/erasure/erase-dialog.tsx";
import { t } from "../../i18n/index.ts";

interface Erasing {
  /** The text to type. */
  word?: string;
  /** What would be removed. */
  goes: ReactNode;
  /** What would stay. */
  stays?: string;
  run: () => Promise<WriteResult>;
}

const Current = createContext<((what: Erasing) => void) | undefined>(undefined);

/** Opens the erase dialog; undefined without the erase permission. */
export function useErase() {
  return useContext(Current);
}

export function ErasingProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const { permissions } = useSignIn();
  const [erasing, setErasing] = useState<Erasing>();
  const run = async ({ run }: Erasing) => {
    const written = await run();
    void queries.invalidateQueries({ queryKey: ["sessions"] });
    return written;
  };
  return (
    <Current value={permissions.includes("erase") ? setErasing : undefined}>
      {children}
      {erasing && (
        <EraseDialog
          title={t("sources.erase.title")}
          text={t("sources.erase.text")}
          word={erasing.word}
          run={() => run(erasing)}
          onClose={() => setErasing(undefined)}
        >
          <p className="rounded-control bg-bad-soft px-3 py-2">{erasing.goes}</p>
          {erasing.stays && <p>{erasing.stays}</p>}
        </EraseDialog>
      )}
    </Current>
  );
}
