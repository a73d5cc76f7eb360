// What the compiler must accept and refuse. Nothing here runs but the last line.
import { test } from "node:test";
import type { ContextView, MemoryView, Page, Quipu, Written } from "@quipu/client";

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => undefined;

export async function types(quipu: Quipu) {
  const saved = await quipu.request("POST", "/api/memory", { body: { content: "x" } });
  same<typeof saved, Written>(true);
  const page = await quipu.request("GET", "/api/memory");
  page.data satisfies MemoryView[];
  const context = await quipu.request("POST", "/api/memory/retrieve", { body: { query: "x" } });
  same<typeof context, ContextView>(true);
  const archive = await quipu.request("GET", "/api/export");
  same<typeof archive, Blob>(true);
  same<Awaited<ReturnType<Quipu["export"]>>, Blob>(true);
  (await quipu.memories.list().page()) satisfies Page<MemoryView>;
  await quipu.memories.retrieve({ query: "x", budget: 700 });
  for await (const memory of quipu.memories.list({ domain: "travel" })) memory.content.length;

  // @ts-expect-error: there is no such path.
  await quipu.request("GET", "/api/nothing");
  // @ts-expect-error: this path is not for posting.
  await quipu.request("POST", "/api/review");
  // @ts-expect-error: the body is missing.
  await quipu.request("POST", "/api/memory");
  // @ts-expect-error: `content` is missing.
  await quipu.request("POST", "/api/memory", { body: { summary: "x" } });
  // @ts-expect-error: the name in the path is missing.
  await quipu.request("GET", "/api/memory/{id}");
  // @ts-expect-error: there is no such filter.
  quipu.memories.list({ colour: "red" });
  // @ts-expect-error: there is no such field.
  await quipu.memories.save({ content: "x", colour: "red" });
  // @ts-expect-error: a memory has no such field.
  saved.memory?.colour;
}

test("types are checked by the compiler", () => {});
