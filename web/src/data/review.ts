/** The review items of the user. The shell shows the count, the Review page the deck. */
import { useQuery } from "@tanstack/react-query";
import { useLukasa } from "../base/sign-in.ts";

export function useReview() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["review"],
    queryFn: ({ signal }) => lukasa.review.list({ signal }),
  });
}
