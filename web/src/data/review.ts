/** The review items of the user. The shell shows the count, the Review page the deck. */
import { useQuery } from "@tanstack/react-query";
import type { ReviewView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import { readReview } from "./home.ts";
import { unlistedIn, waitingIn } from "./review-counts.ts";

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

/** Whether it is time for the monthly review. */
export function usePeriodicReview() {
  return useReviewView((view) => view.periodic);
}

/** The number of cards that wait for the user: all items, and one card for all mentioned domains. */
export function useWaiting(): number {
  return useReviewView(waitingIn).data ?? 0;
}

/** How many items of each kind wait that the server has not listed: a list has only the first of them. */
export function useUnlisted(): ReadonlyMap<string, number> {
  return useReviewView(unlistedIn).data ?? NO_COUNTS;
}

const NO_COUNTS: ReadonlyMap<string, number> = new Map();

/** The memories that wait for an answer to a contradiction. */
export function useDisputed(): ReadonlySet<string> {
  return useReviewView(disputedIn).data ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();

function disputedIn({ data }: ReviewView): ReadonlySet<string> {
  const pairs = data.filter((item) => item.kind === "contradiction");
  return new Set(pairs.flatMap(({ memory, against }) => [memory.id, against?.id ?? memory.id]));
}
