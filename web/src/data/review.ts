/** What waits for its person's answer. The shell shows the count, the Review page the deck. */
import { useQuery } from "@tanstack/react-query";
import { useQuipu } from "../app/sign-in.tsx";

export function useReview() {
  const quipu = useQuipu();
  return useQuery({
    queryKey: ["review"],
    queryFn: ({ signal }) => quipu.review.list({ signal }),
  });
}
