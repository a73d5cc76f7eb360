/** Names of the apps that write memories: keys, for those who may see them, and connected assistants. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa, useSignIn } from "../base/sign-in.ts";

const NONE: ReadonlyMap<string, string> = new Map();

/** By the id of the credential. */
export function useAppNames(): ReadonlyMap<string, string> {
  const lukasa = useLukasa();
  const { local, admin, human, user } = useSignIn();
  const names = useQuery({
    queryKey: ["connectors", user, "names"],
    enabled: !local,
    queryFn: async ({ signal }) => {
      const [keys, connectors] = await Promise.all([
        admin ? lukasa.keys.list({ signal }) : [],
        human ? lukasa.signIns.list({ user }, { signal }) : [],
      ]);
      return new Map([...connectors, ...keys].map(({ id, name }) => [id, name]));
    },
    staleTime: 60_000,
  });
  return names.data ?? NONE;
}
