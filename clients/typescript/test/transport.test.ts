// Retries, timeouts and headers of requests, with a scripted server.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { Lukasa, LukasaError } from "lukasa-client";
import { answer, scripted } from "./servers.ts";

const memory = { memory: null, event: { type: "memory.saved", memory_ids: [] }, message: "Saved" };
const problem = (code: string) => ({
  type: `/docs/errors#${code}`,
  title: code,
  code,
  detail: "d",
});

/** Answers with these statuses in turn, repeating the last one, and records the requests. */
async function statuses(list: number[], headers = {}) {
  const requests: { headers: IncomingHttpHeaders; url: string | undefined; at: number }[] = [];
  const url = await scripted((request, response) => {
    requests.push({ headers: request.headers, url: request.url, at: Date.now() });
    const status = list[Math.min(requests.length, list.length) - 1] ?? 500;
    const body = status < 400 ? memory : { ...problem("unavailable"), status };
    answer(response, status, body, status < 400 ? {} : headers);
  });
  return { url, requests };
}

test("retryable statuses are retried with the same key", async () => {
  for (const status of [429, 502, 503, 504]) {
    const { url, requests } = await statuses([status, status, 201]);
    await new Lukasa({ url }).memories.save("Prefers window seats");
    assert.equal(requests.length, 3);
    const keys = new Set(requests.map(({ headers }) => headers["idempotency-key"]));
    assert.equal(keys.size, 1);
    assert.match([...keys][0] as string, /^[0-9a-f]{32}$/);
  }
});

test("idempotency keys are unique per call, or chosen by the caller", async () => {
  const { url, requests } = await statuses([201]);
  const lukasa = new Lukasa({ url });
  await lukasa.memories.save("One");
  await lukasa.memories.save("Two");
  await lukasa.memories.save("Three", { idempotencyKey: "mine" });
  await lukasa.operations.list().page();
  const keys = requests.map(({ headers }) => headers["idempotency-key"]);
  assert.notEqual(keys[0], keys[1]);
  assert.deepEqual(keys.slice(2), ["mine", undefined]);
});

test("other error statuses are not retried", async () => {
  for (const status of [400, 403, 404, 409, 412, 422, 500]) {
    const { url, requests } = await statuses([status, 201]);
    await assert.rejects(new Lukasa({ url }).memories.save("x"), LukasaError);
    assert.equal(requests.length, 1);
  }
});

test("retries end with the error of the server", async () => {
  const { url, requests } = await statuses([503]);
  await assert.rejects(new Lukasa({ url, retries: 1 }).memories.forget("mem_1"), {
    name: "LukasaError",
    status: 503,
    code: "unavailable",
    requestId: "req_1",
  });
  assert.equal(requests.length, 2);
});

interface Described {
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>;
}

const source = process.env.LUKASA_OPENAPI ?? assert.fail("LUKASA_OPENAPI is not set");
const { paths, components } = JSON.parse(await readFile(source, "utf8")) as {
  paths: Record<string, { post?: Described }>;
  components: { schemas: Record<string, object> };
};

/** Whether the success response of an operation has a secret, or a link that signs in. */
function givesSecret(post: Described): boolean {
  const good = Object.entries(post.responses).filter(([status]) => status.startsWith("2"));
  return good.some(([, { content }]) => {
    const name = content?.["application/json"]?.schema.$ref?.split("/").at(-1);
    const schema = JSON.stringify(components.schemas[name ?? ""] ?? {});
    return schema.includes('"secret":') || (name ?? "").includes("SignInLink");
  });
}

test("requests that create secrets are not retried", async () => {
  const posts = Object.entries(paths).filter(([, { post }]) => post && givesSecret(post));
  assert.ok(posts.length >= 6, `${posts.length} operations give a secret`);
  for (const [path] of [...posts, ["/api/sign-in"] as const]) {
    for (const sent of [path, path.replace("{id}", "id_1")]) {
      const { url, requests } = await statuses([503]);
      await assert.rejects(new Lukasa({ url }).send("POST", sent, { path: { id: "id_1" } }));
      assert.equal(requests.length, 1, sent);
    }
  }
});

/** POST operations without an idempotency key whose repetition has no effect. */
const HARMLESS = [
  "/api/memory/search",
  "/api/memory/retrieve",
  "/api/vault/plan",
  "/api/domains/detect",
  "/api/beacon",
  "/api/import",
  "/api/imports/{id}/decision",
  "/api/imports/{id}/undo",
  "/api/model-service/test",
];

test("POST requests are retried if they have a key or no effect of their own", async () => {
  for (const [path, { post }] of Object.entries(paths)) {
    if (!post) continue;
    const keyed = post.parameters?.some(({ name }) => name === "Idempotency-Key");
    const repeats = (keyed && !givesSecret(post)) || HARMLESS.includes(path);
    const { url, requests } = await statuses([503], { "retry-after": "0" });
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, "1"]);
    const sending = { path: Object.fromEntries(names), retries: 1 };
    await assert.rejects(new Lukasa({ url }).send("POST", path, sending));
    assert.equal(requests.length, repeats ? 2 : 1, path);
  }
});

test("Retry-After is honoured", async () => {
  const { url, requests } = await statuses([503, 201], { "retry-after": "1" });
  await new Lukasa({ url }).memories.save("x");
  assert.ok((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0) >= 1000);
});

test("unreachable server gives `unreachable`", async () => {
  const url = "http://127.0.0.1:1";
  await assert.rejects(new Lukasa({ url, retries: 0 }).state(), { code: "unreachable", status: 0 });
});

test("timeout applies to each attempt", async () => {
  let requests = 0;
  const url = await scripted((_, response) => {
    requests += 1;
    if (requests > 1) answer(response, 200, { data: [] });
  });
  const lukasa = new Lukasa({ url, timeout: 200 });
  await assert.rejects(lukasa.review.list({ retries: 0 }), { code: "timeout" });
  assert.deepEqual(await lukasa.review.list(), []);
  requests = 0;
  assert.deepEqual(await lukasa.review.list(), []);
  assert.equal(requests, 2);
});

test("incomplete response is retried", async () => {
  let requests = 0;
  const url = await scripted((request, response) => {
    requests += 1;
    if (requests > 1) return answer(response, 200, { data: [] });
    response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
    response.write('{"data"');
    setTimeout(() => request.socket.destroy(), 20);
  });
  assert.deepEqual(await new Lukasa({ url }).review.list(), []);
  assert.equal(requests, 2);
});

test("aborted signal ends the wait between attempts", async () => {
  const { url } = await statuses([503], { "retry-after": "30" });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 50);
  const from = Date.now();
  const call = new Lukasa({ url }).memories.save("x", { signal: controller.signal });
  await assert.rejects(call, /enough/);
  assert.ok(Date.now() - from < 5000);
  await assert.rejects(new Lukasa({ url }).state({ signal: controller.signal }), /enough/);
});

test("headers carry key, user and version", async () => {
  const { url, requests } = await statuses([200]);
  let asked = 0;
  const key = async () => `lk_user_${++asked}`;
  const lukasa = new Lukasa({
    url: `${url}/behind/`,
    key,
    user: "josé 李",
    space: "family",
    headers: { "x-own": "1" },
  });
  await lukasa.memories.update("a/b?c", "Likes tea", { ifMatch: '"ver_1"', space: "team" });
  await lukasa.forUser("bob").memories.forget("mem_1");
  const [first, second] = requests;
  assert.equal(first?.url, "/behind/api/memory/a%2Fb%3Fc");
  assert.equal(first?.headers.authorization, "Bearer lk_user_1");
  assert.equal(first?.headers["if-match"], '"ver_1"');
  assert.equal(first?.headers["x-own"], "1");
  const raw = first?.headers["x-lukasa-user"] as string;
  assert.equal(Buffer.from(raw, "latin1").toString("utf8"), "josé 李");
  assert.equal(second?.headers["x-lukasa-user"], "bob");
  assert.deepEqual(
    requests.map(({ headers }) => headers["x-lukasa-space"]),
    ["team", "family"],
  );
  assert.equal(second?.headers.authorization, "Bearer lk_user_2");
});

test("path segments of dots are rejected before sending", async () => {
  const { url, requests } = await statuses([200]);
  for (const id of ["", ".", ".."]) {
    await assert.rejects(new Lukasa({ url }).memories.delete(id), TypeError);
  }
  assert.equal(requests.length, 0);
});

test("error text of a proxy is in the detail", async () => {
  const url = await scripted((_, response) => response.writeHead(404).end("<h1>nginx</h1>"));
  const call = new Lukasa({ url }).state();
  await assert.rejects(call, { code: "unreadable", status: 404, detail: "<h1>nginx</h1>" });
});

test("undo of an event without an operation is rejected", () => {
  const event = { type: "memory.unchanged", memory_ids: [], operation_id: null };
  assert.throws(() => new Lukasa().operations.undo(event), TypeError);
});
