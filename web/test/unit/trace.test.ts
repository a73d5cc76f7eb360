import assert from "node:assert/strict";
import { test } from "node:test";
import { readTrace } from "../../src/features/sources/trace.ts";

test("trace keeps the best rank of each arm", () => {
  const source = { memory_id: "mem_1", version_id: "ver_1" };
  const trace = readTrace({
    found: [
      {
        source,
        arms: [
          { arm: "keyword", rank: 4 },
          { arm: "keyword_window", rank: 2 },
          { arm: "vector", rank: 1 },
        ],
        fused_rank: 1,
        rank: 3,
      },
    ],
    dynamic: [{ source, tokens: 12, relevance: 0.5 }],
    left_out: [{ source: { memory_id: "mem_2" }, reason: "over the budget" }],
  });
  assert.deepEqual(trace.found.get("mem_1"), {
    arms: [
      { arm: "vector", rank: 1 },
      { arm: "keyword", rank: 2 },
    ],
    fused: 1,
  });
  assert.equal(trace.given.get("mem_1")?.rank, 1);
  assert.equal(readTrace({ dynamic: [] }).found.size, 0, "older traces have no ranks");
});
