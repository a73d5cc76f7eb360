import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContextView, SearchAnswer } from "lukasa-client";
import { parsePlaygroundParams } from "../../src/pages/playground/params.ts";
import {
  exclusionsOf,
  isReranked,
  onlyIn,
  outcomesOf,
  type Row,
  retrieveBody,
  rowsOf,
  searchBody,
  spent,
  verdict,
} from "../../src/pages/playground/requests.ts";

type Part = ContextView["baseline"];

const line = (mark: string, memory_id: string, tokens: number, section = "Facts") => ({
  mark,
  memory_id,
  version_id: `ver_${memory_id}`,
  section,
  text: memory_id,
  tokens,
});

const part = (change: Partial<Part>): Part => ({
  content: "",
  tokens: 0,
  citations: [],
  left_out: [],
  ...change,
});

function context(change: Partial<ContextView>): ContextView {
  return {
    retrieval_id: "ret_1",
    context: "",
    baseline: part({}),
    dynamic: part({}),
    frozen: false,
    hard: [],
    conflicts: [],
    soft: [],
    domains: [],
    budget: { limit: 100, used: 0, baseline: 0, dynamic: 0 },
    times: [],
    considered: 0,
    cache: "miss",
    degraded: [],
    took_ms: { embed: 0, load: 0, rank: 0, fetch: 0, rerank: 0 },
    ...change,
  };
}

const NOTHING: SearchAnswer = {
  memories: [],
  turns: [],
  episodes: [],
  sessions: [],
  times: [],
  degraded: [],
  considered: 0,
  took_ms: { embed: 0, load: 0, rank: 0, fetch: 0, rerank: 0 },
};

const found = (...ids: string[]): SearchAnswer => ({
  ...NOTHING,
  memories: ids.map((id, at) => ({
    memory: { id, content: id } as SearchAnswer["memories"][number]["memory"],
    why: {
      score: 1,
      relevance: 0.5,
      arms: [{ arm: "keyword", rank: at + 2, score: 1 }],
      matched: [],
      fused_rank: at + 1,
    },
  })),
});

test("invalid playground parameters are ignored", () => {
  assert.deepEqual(
    parsePlaygroundParams({ query: "hi", budget: 450, freeze: false, rerank: true }),
    {
      query: "hi",
      budget: 450,
      freeze: false,
    },
  );
  assert.deepEqual(
    parsePlaygroundParams({
      query: 42,
      budget: "huge",
      domains: ["food", 7],
      as_of: "never",
      x: 1,
    }),
    { query: "42", domains: ["food"] },
  );
  assert.deepEqual(parsePlaygroundParams({ against: { budget: "deep", window: -1 } }), {
    against: { budget: "deep" },
  });
  assert.deepEqual(parsePlaygroundParams({ against: [1] }), {});
});

test("request body has only chosen settings, and freeze only with a chat", () => {
  assert.deepEqual(retrieveBody("hi", {}), { query: "hi", preview: true });
  assert.deepEqual(retrieveBody("hi", { freeze: false }), { query: "hi", preview: true });
  assert.deepEqual(retrieveBody("hi", { freeze: false, session: "a", budget: 9 }, "UTC"), {
    query: "hi",
    session_id: "a",
    freeze: false,
    budget: 9,
    timezone: "UTC",
    preview: true,
  });
  assert.deepEqual(searchBody("hi", { session: "a", budget: 9, rerank: false }), {
    query: "hi",
    limit: 10,
    turns: 5,
    min_relevance: 0,
    rerank: false,
  });
});

test("verdict is derived from the context and the search response", () => {
  const looked = context({
    dynamic: part({ left_out: [{ memory_id: "a", reason: "changed since" }] }),
  });
  assert.equal(verdict(looked, NOTHING), "looked");
  assert.equal(verdict(context({}), found("a")), "spared");
  assert.equal(verdict(context({}), NOTHING), "nothing");
});

test("line in one part is not listed as left out of the other", () => {
  const given = context({
    baseline: part({
      citations: [{ ...line("m1", "a", 10), also_memory_ids: ["d"] }],
      left_out: [
        { memory_id: "b", reason: "over the budget" },
        { memory_id: "c", reason: "over the budget" },
      ],
    }),
    dynamic: part({
      citations: [line("m2", "b", 5)],
      left_out: [
        { memory_id: "a", reason: "in the baseline already", relevance: 0.4 },
        { memory_id: "c", reason: "not relevant enough", relevance: 0.1 },
      ],
    }),
  });
  assert.deepEqual(outcomesOf(given).get("d"), { kind: "baseline", mark: "m1" });
  const rows = rowsOf(found("b", "c", "e"), given);
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    [
      { kind: "in", mark: "m2" },
      { kind: "out", reason: "not relevant enough" },
      { kind: "unasked" },
    ],
  );
  assert.deepEqual(
    rows.map(({ arms, fused, last }) => [arms.get("keyword")?.rank, fused, last]),
    [
      [2, 1, 1],
      [3, 2, 2],
      [4, 3, 3],
    ],
  );
  const left = exclusionsOf(given);
  assert.deepEqual(
    left.map(({ id, mark }) => [id, mark]),
    [
      ["c", undefined],
      ["a", "m1"],
      ["b", "m2"],
    ],
  );
  assert.deepEqual(left[0]?.reasons, [
    { part: "dynamic", reason: "not relevant enough" },
    { part: "baseline", reason: "over the budget" },
  ]);
});

test("budget counts rules separately, and the parts add up", () => {
  const rule = line("m1", "a", 30, "Hard preferences (must be respected)");
  const given = context({
    baseline: part({ citations: [rule, line("m2", "b", 20)], tokens: 80 }),
    dynamic: part({ citations: [line("m3", "c", 10)], tokens: 25 }),
    hard: [rule, line("m3", "c", 10)],
    budget: { limit: 200, used: 105, baseline: 80, dynamic: 25 },
  });
  assert.deepEqual(spent(given), { baseline: 50, rules: 30, dynamic: 25 });
});

test("comparison lists the lines of only one side", () => {
  const one = context({ soft: [line("m1", "a", 1), line("m2", "b", 1)] });
  const two = context({ soft: [line("m1", "b", 1)] });
  assert.deepEqual(
    onlyIn(one, two).map(({ text }) => text),
    ["a"],
  );
  assert.deepEqual(onlyIn(two, one), []);
});

test("a reranker is shown only if it changed the order, not if something was left out", () => {
  const rows = (...fused: number[]) => fused.map((one) => ({ fused: one }) as Row);
  assert.equal(isReranked(rows(1, 2, 3)), false);
  assert.equal(isReranked(rows(2, 5, 9)), false);
  assert.equal(isReranked(rows(2, 1, 3)), true);
  assert.equal(isReranked([]), false);
});
