/** Names of the apps that write memories: keys, for those who may see them, and connected assistants. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa, useSignIn } from "../base/sign-in.ts";

interface Apps {
  /** Names by the id of the credential. */
  names: ReadonlyMap<string, string>;
  /** The ids of the user's sign-ins in the console. */
  signIns: ReadonlySet<string>;
  /** Whether they were read. Without sign-ins there are none. */
  known: boolean;
}

const NONE: Apps = { names: new Map(), signIns: new Set(), known: false };

/** By the id of the credential. */
export function useAppNames(): ReadonlyMap<string, string> {
  return useApps().names;
}

export function useApps(): Apps {
  const lukasa = useLukasa();
  const { local, admin, human, user } = useSignIn();
  const names = useQuery({
    queryKey: ["connectors", user, "names"],
    enabled: !local,
    queryFn: async ({ signal }): Promise<Apps> => {
      const [keys, connectors] = await Promise.all([
        admin ? lukasa.keys.list({ signal }) : [],
        human ? lukasa.signIns.list({ user }, { signal }) : [],
      ]);
      return {
        names: new Map([...connectors, ...keys].map(({ id, name }) => [id, name])),
        signIns: new Set(connectors.filter((one) => one.kind === "sign_in").map(({ id }) => id)),
        known: true,
      };
    },
    staleTime: 60_000,
  });
  return names.data ?? NONE;
}
