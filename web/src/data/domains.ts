/** The areas of a life, and which of them are open. */
import { useQuery } from "@tanstack/react-query";
import { useQuipu } from "../app/sign-in.tsx";

export function useDomains() {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["domains"],
    queryFn: ({ signal }) => quipu.domains.list({ signal }),
    staleTime: 60_000,
  });
}
