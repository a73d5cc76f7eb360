/** Many answers as few requests: each answer is a run of a batch write, and the runs of a request share it. */
import type { AnswerResult, MemoryView, ReviewAnswer } from "lukasa-client";

/** The most that the server takes at once. */
const ANSWERS_PER_REQUEST = 200;

/** Suggestions and guesses are answered by the digest of the text that was shown. */
export function answerOf(memory: MemoryView, verdict: "keep" | "decline"): ReviewAnswer {
  return { memory_id: memory.id, confirm: verdict === "keep", sha256: memory.sha256 };
}

/** One run per answer. The first run of each request sends it, and the others wait for their result. */
export function answerRuns(
  answers: readonly ReviewAnswer[],
  send: (answers: ReviewAnswer[]) => Promise<AnswerResult[]>,
): (() => Promise<AnswerResult | undefined>)[] {
  const sent = new Map<number, Promise<AnswerResult[]>>();
  return answers.map((_, at) => async () => {
    const start = at - (at % ANSWERS_PER_REQUEST);
    const sending = sent.get(start) ?? send(answers.slice(start, start + ANSWERS_PER_REQUEST));
    sent.set(start, sending);
    return (await sending)[at - start];
  });
}
