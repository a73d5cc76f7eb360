/** The imports of the user, each with the number of its memories that wait for a decision. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";

/** Read again after every operation, as the log is. */
export const IMPORTS = ["operations", "imports"] as const;

export function useImports(asked = true) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: IMPORTS,
    enabled: asked,
    queryFn: ({ signal }) => lukasa.imports.list({ signal }),
  });
}
