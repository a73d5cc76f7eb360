/** The imports of the user, each with the number of its memories that wait for a decision. */
import { useQuery } from "@tanstack/react-query";
import type { ImportView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";

/** Read again after every operation, as the log is. */
export const IMPORTS = ["operations", "imports"] as const;

/** How many chats the imports brought that are not undone. */
export function chatsImported(
  imports: readonly Pick<ImportView, "counts" | "undone_at">[],
): number {
  return imports.reduce((sum, one) => sum + (one.undone_at ? 0 : one.counts.chats), 0);
}

export function useImports(asked = true) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: IMPORTS,
    enabled: asked,
    queryFn: ({ signal }) => lukasa.imports.list({ signal }),
  });
}
