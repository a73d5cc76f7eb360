// What the compiler must accept and reject. Only the last line runs.
import { test } from "node:test";
import type { ContextView, Lukasa, MemoryView, Page, WriteResult } from "lukasa-client";

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => undefined;

export async function types(lukasa: Lukasa) {
  const saved = await lukasa.request("POST", "/api/memory", { body: { content: "x" } });
  same<typeof saved, WriteResult>(true);
  const page = await lukasa.request("GET", "/api/memory");
  page.data satisfies MemoryView[];
  const context = await lukasa.request("POST", "/api/memory/retrieve", { body: { query: "x" } });
  same<typeof context, ContextView>(true);
  const archive = await lukasa.request("GET", "/api/export");
  same<typeof archive, Blob>(true);
  same<Awaited<ReturnType<Lukasa["export"]>>, Blob>(true);
  (await lukasa.memories.list().page()) satisfies Page<MemoryView>;
  await lukasa.memories.retrieve({ query: "x", budget: 700 });
  for await (const memory of lukasa.memories.list({ domain: "travel" })) memory.content.length;

  // @ts-expect-error: there is no such path.
  await lukasa.request("GET", "/api/nothing");
  // @ts-expect-error: this path has no POST.
  await lukasa.request("POST", "/api/review");
  // @ts-expect-error: the body is missing.
  await lukasa.request("POST", "/api/memory");
  // @ts-expect-error: `content` is missing.
  await lukasa.request("POST", "/api/memory", { body: { summary: "x" } });
  // @ts-expect-error: the path parameter is missing.
  await lukasa.request("GET", "/api/memory/{id}");
  // @ts-expect-error: there is no such filter.
  lukasa.memories.list({ colour: "red" });
  // @ts-expect-error: there is no such field.
  await lukasa.memories.save({ content: "x", colour: "red" });
  // @ts-expect-error: a memory has no such field.
  saved.memory?.colour;
}

test("types are checked by the compiler", () => {});
