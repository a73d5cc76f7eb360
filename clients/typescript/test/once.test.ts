// A write happens once, even if its response is lost: the real server behind a lossy proxy.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lukasa } from "lukasa-client";
import { type Fault, lossy, real, uniqueUser } from "./servers.ts";

const turns = [
  { role: "user", content: "How is the weather in Lisbon in March?" },
  { role: "assistant", content: "Mild, with some rain." },
];

/** Appends and saves through the proxy, and counts what the server stored. */
async function write(fault: Fault): Promise<{ turns: number; operations: number; lukasa: Lukasa }> {
  const user = uniqueUser();
  const lukasa = real(user, { url: await lossy(fault) });
  await lukasa.sessions.append("chat-1", turns);
  const saved = await lukasa.memories.save("Lives in Lisbon");
  await lukasa.memories.update(saved.memory?.id ?? "", "Lives in Porto");
  const direct = real(user);
  return {
    turns: (await direct.sessions.turns("chat-1").all()).length,
    operations: (await direct.operations.list().all()).length,
    lukasa: direct,
  };
}

test("write with a lost response happens once", async () => {
  const fault: Fault = { lose: 2 };
  const { turns, operations, lukasa } = await write(fault);
  assert.equal(fault.lose, 0);
  assert.equal(fault.seen, 5, "three writes, two of them sent again");
  assert.equal(turns, 2);
  assert.equal(operations, 2);
  assert.deepEqual(
    (await lukasa.memories.list().all()).map((memory) => memory.content),
    ["Lives in Porto"],
  );
});

test("repeated write without its key is detected as two", async () => {
  const fault: Fault = { lose: 2, strip: "idempotency-key" };
  const { turns } = await write(fault);
  assert.ok(turns > 2, "without its key a repeated write must show up as two");
});
