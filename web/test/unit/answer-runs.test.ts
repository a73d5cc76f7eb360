import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerResult, MemoryView, ReviewAnswer } from "lukasa-client";
import { answerOf, answerRuns } from "../../src/pages/review/answer-runs.ts";

test("answers have the digest of the text that was shown, if there is one", () => {
  const suggestion = { id: "mem_1", status: "proposed", sha256: "abc" } as MemoryView;
  const guess = { id: "mem_2", status: "candidate", sha256: "def" } as MemoryView;
  const saved = { id: "mem_3", status: "active" } as MemoryView;
  assert.deepEqual(
    [answerOf(suggestion, "keep"), answerOf(guess, "decline"), answerOf(saved, "keep")],
    [
      { memory_id: "mem_1", confirm: true, sha256: "abc" },
      { memory_id: "mem_2", confirm: false, sha256: "def" },
      { memory_id: "mem_3", confirm: true, sha256: undefined },
    ],
  );
});

test("bulk answers are sent in requests of two hundred, each with its own result", async () => {
  const answers = Array.from({ length: 450 }, (_, at) => ({
    memory_id: `mem_${at}`,
    confirm: true,
  }));
  const sent: number[] = [];
  const send = async (some: ReviewAnswer[]): Promise<AnswerResult[]> => {
    sent.push(some.length);
    return some.map(({ memory_id }) =>
      memory_id === "mem_201"
        ? { problem: { code: "memory_not_found" } }
        : { written: { message: memory_id } },
    ) as AnswerResult[];
  };
  const results = await Promise.all(answerRuns(answers, send).map((run) => run()));
  assert.deepEqual(sent, [200, 200, 50]);
  assert.equal(results[201]?.problem?.code, "memory_not_found");
  assert.equal(results.filter((one) => one?.written).length, 449);
  assert.equal(results[449]?.written?.message, "mem_449");
});
