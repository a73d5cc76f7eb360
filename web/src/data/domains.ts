/** The domains of the user, and which of them are turned on. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";
import { readDomains } from "./home.ts";

export function useDomains() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["domains"],
    queryFn: ({ signal }) => readDomains(lukasa, signal),
    staleTime: 60_000,
  });
}
