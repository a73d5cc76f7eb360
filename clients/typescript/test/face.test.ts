// Every client method calls its own operation; operations without a method are listed.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Lukasa, type Pages } from "lukasa-client";

interface Description {
  paths: Record<string, Record<string, { operationId: string }>>;
}

const source = process.env.LUKASA_OPENAPI ?? assert.fail("LUKASA_OPENAPI is not set");
const { paths } = JSON.parse(await readFile(source, "utf8")) as Description;

/** The operation of a request, by its method and path. */
function operationOf(method: string, pathname: string): string | undefined {
  const fits = (path: string) =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname);
  // A path without parameters takes precedence, as in the server.
  const path = Object.keys(paths)
    .filter(fits)
    .sort((a, b) => a.split("{").length - b.split("{").length)[0];
  return path && paths[path]?.[method.toLowerCase()]?.operationId;
}

test("client methods call existing operations", async () => {
  const reached: (string | undefined)[] = [];
  const lukasa = new Lukasa({
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input));
      const found = operationOf(init?.method ?? "GET", pathname);
      assert.ok(found, `${init?.method} ${pathname} is not an operation`);
      reached.push(found);
      return Response.json({ data: [], revoked: [] });
    },
  });
  const groups: [string, unknown][] = Object.entries(lukasa).filter(
    ([group]) => group !== "settings",
  );
  const own = [
    "insights",
    "clusters",
    "dependents",
    "retrieval",
    "home",
    "state",
    "export",
    "ready",
  ] as const;
  groups.push(["lukasa", Object.fromEntries(own.map((name) => [name, lukasa[name].bind(lukasa)]))]);
  let methods = 0;
  for (const [group, face] of groups) {
    for (const [name, method] of Object.entries(face as Record<string, unknown>)) {
      if (typeof method !== "function") continue;
      const call = method as (...args: unknown[]) => unknown;
      const before = reached.length;
      const args =
        group === "review" && name === "answer"
          ? [{ method: "POST", path: "/api/memory/mem_1/confirm", body: {} }]
          : ["x", "y"];
      const answer = call(...args) as Pages<unknown> | Promise<unknown>;
      await ("page" in answer ? answer.page() : answer);
      assert.equal(reached.length, before + 1, `${group}.${name} sends one request`);
      methods += 1;
    }
  }
  // `review.list` returns a part of what `review.get` does, and `review.answer` sends a request named by the
  // server; every other method has its own operation.
  const twice = reached.filter((operation, at) => reached.indexOf(operation) !== at);
  assert.deepEqual(twice, ["get_review", "confirm_memory"]);
  assert.ok(methods > 70, `${methods} methods were called`);
  const all = Object.values(paths).flatMap((path) => Object.values(path).map((o) => o.operationId));
  const left = all.filter((operation) => !reached.includes(operation));
  console.log(`${methods} methods; only by request(): ${left.join(", ") || "none"}`);
});

test("operation lookup rejects unknown paths", () => {
  assert.equal(operationOf("GET", "/api/memory/stats"), "get_stats");
  assert.equal(operationOf("GET", "/api/memory/mem_1"), "get_memory");
  assert.equal(operationOf("POST", "/api/memory/mem_1"), undefined);
  assert.equal(operationOf("GET", "/api/memories"), undefined);
});
