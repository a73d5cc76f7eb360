/** The review items of the user. The shell shows the count, the Review page the deck. */
import { useQuery } from "@tanstack/react-query";
import type { ReviewView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { readReview } from "./home.ts";

export const REVIEW = ["review"];

function useReviewView<T>(select: (view: ReviewView) => T) {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: REVIEW,
    queryFn: ({ signal }) => readReview(lukasa, signal),
    select,
  });
}

export function useReview() {
  return useReviewView((view) => view.data);
}

/** The domains that the user mentioned and has not turned on. Each is asked about once. */
export function useMentionedDomains() {
  return useReviewView((view) => view.domains);
}

/** The number of cards that wait for the user: the items, and one card for all mentioned domains. */
export function useWaiting(): number {
  return useReviewView((view) => view.data.length + Math.min(view.domains.length, 1)).data ?? 0;
}
