import assert from "node:assert/strict";
import { test } from "node:test";
import { readTrace } from "../../src/pages/sources/trace.ts";

test("what found a memory is told by the best place that each way gave it", () => {
  const trace = readTrace({
    dynamic: [
      {
        source: { memory_id: "mem_1" },
        tokens: 12,
        relevance: 0.5,
        ranks: [
          { arm: "keyword", rank: 4 },
          { arm: "keyword_window", rank: 2 },
          { arm: "vector", rank: 1 },
        ],
        fused_rank: 1,
      },
    ],
    left_out: [{ source: { memory_id: "mem_2" }, reason: "over the budget" }],
  });
  assert.deepEqual(trace.given.get("mem_1")?.found, {
    arms: [
      { arm: "vector", rank: 1 },
      { arm: "keyword", rank: 2 },
    ],
    fused: 1,
  });
  assert.equal(trace.leftOut[0]?.found, undefined, "an older record says nothing of it");
});
