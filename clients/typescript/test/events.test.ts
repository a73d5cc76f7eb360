// Live events with a scripted server: the parser, and reconnecting after a lost connection.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventStream, Lukasa, LukasaError } from "lukasa-client";

import { answer, real, scripted, uniqueUser } from "./servers.ts";

async function read(text: string, cut: number) {
  const bytes = new TextEncoder().encode(text);
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += cut) yield bytes.subarray(from, from + cut);
  }
  const all = [];
  for await (const message of eventStream(chunks())) all.push(message);
  return all;
}

test("event stream is parsed alike for every chunk size", async () => {
  const stream =
    '\uFEFF: hello\nretry: 20\n\nid: 1\nevent: save\ndata: {"a":\ndata: "é"}\n\n' +
    "id:2\r\nevent:undo\r\ndata:x\r\n\r\ndata: y\rid: 3\r\r: still here\n\ndata\n\n" +
    "id: 4\n\nid: 5\ndata: broken off";
  const expected = [
    { id: "", event: "message", data: "", retry: 20 },
    { id: "1", event: "save", data: '{"a":\n"é"}', retry: undefined },
    { id: "2", event: "undo", data: "x", retry: undefined },
    { id: "3", event: "message", data: "y", retry: undefined },
    { id: "3", event: "message", data: "", retry: undefined },
    { id: "4", event: "message", data: "", retry: undefined },
  ];
  for (const cut of [1, 2, 3, 5, 7, 1000]) assert.deepEqual(await read(stream, cut), expected);
});

const data = (n: number) =>
  JSON.stringify({ id: `op_${n}`, verb: "save", memory_ids: [`mem_${n}`], at: "2026-11-15" });

/** A server that drops the connection after every third event, in the middle of a message. */
async function leaky() {
  const starts: (string | undefined)[] = [];
  const url = await scripted((request, response) => {
    const last = request.headers["last-event-id"] as string | undefined;
    starts.push(last);
    if (starts.length % 4 === 0) return answer(response, 503, { code: "unavailable", status: 503 });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("retry: 1\n\n");
    let next = Number(last ?? 0) + 1;
    for (const stop = next + 3; next < stop; next++) {
      response.write(`id: ${next}\nevent: save\ndata: ${data(next)}\n\n`);
    }
    response.write(`id: ${next}\nevent: save\nda`);
    setTimeout(() => request.socket.destroy(), 2);
  });
  return { url, starts };
}

test("events continue after a lost connection without gaps and duplicates", async () => {
  const { url, starts } = await leaky();
  const seen: string[] = [];
  let drops = 0;
  const onDisconnect = () => {
    drops += 1;
  };
  for await (const event of new Lukasa({ url }).events({ after: "10", onDisconnect })) {
    seen.push(event.operation.id);
    assert.equal(event.verb, "save");
    assert.equal(`op_${event.id}`, event.operation.id);
    if (seen.length === 100) break;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 100 }, (_, n) => `op_${n + 11}`),
  );
  assert.equal(starts[0], "10");
  assert.equal(drops, starts.length - 1, "each lost or refused connection is reported");
  assert.ok(starts.length > 30);
});

test("event stream ends on a refusal", async () => {
  let requests = 0;
  const url = await scripted((_, response) => {
    requests += 1;
    answer(response, 401, { code: "unauthenticated", title: "t", status: 401 });
  });
  await assert.rejects(
    async () => {
      for await (const _ of new Lukasa({ url }).events());
    },
    (error) => error instanceof LukasaError && error.code === "unauthenticated",
  );
  assert.equal(requests, 1);
});

test("event stream ends when its signal is aborted", async () => {
  const url = await scripted((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": here\n\n");
  });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 100);
  await assert.rejects(async () => {
    for await (const _ of new Lukasa({ url }).events({ signal: controller.signal }));
  }, /enough/);
});

test("events of the real server, from now and from a position", async (t) => {
  const lukasa = real(uniqueUser());
  await lukasa.memories.save("Likes tea");
  const received: string[] = [];
  let first = "";
  // The stream starts now, so the writes have to happen a little later.
  const later = setTimeout(async () => {
    await lukasa.memories.save("Likes cake");
    await lukasa.memories.save("Likes coffee");
  }, 500);
  try {
    for await (const event of lukasa.events()) {
      first ||= event.id;
      const [id] = event.operation.memory_ids;
      received.push(`${event.verb} ${(await lukasa.memories.get(id ?? "")).content}`);
      if (received.length === 2) break;
    }
  } catch (error) {
    if (error instanceof LukasaError && error.status === 404)
      return t.skip("the server has no event stream");
    throw error;
  } finally {
    clearTimeout(later);
  }
  assert.deepEqual(received, ["save Likes cake", "save Likes coffee"]);
  const rest: string[] = [];
  for await (const event of lukasa.events({ after: first, follow: false })) rest.push(event.verb);
  assert.deepEqual(rest, ["save"]);
});
